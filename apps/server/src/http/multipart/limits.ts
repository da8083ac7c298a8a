export interface MultipartLimits {
  maxFields: number;
  maxFiles: number;
  /** Of one text field, in bytes. */
  maxFieldBytes: number;
  /** Of one part's headers; also of what may stand before the first and behind the last boundary. */
  maxHeaderBytes: number;
  maxNameLength: number;
  /** A body of a known length up to this is read whole and parsed in one pass. */
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
