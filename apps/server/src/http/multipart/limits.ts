export interface MultipartLimits {
  maxFields: number;
  maxFiles: number;
  /** Per text field, in bytes. */
  maxFieldBytes: number;
  /** Per part; also for the preamble and the epilogue. */
  maxHeaderBytes: number;
  maxNameLength: number;
  /** A body of known length up to this is read whole and parsed in one pass. */
  bufferedBytes: number;
}

export const defaultLimits: MultipartLimits = {
  maxFields: 32,
  maxFiles: 32,
  maxFieldBytes: 1_048_576,
  maxHeaderBytes: 8192,
  maxNameLength: 200,
  bufferedBytes: 65_536,
};
