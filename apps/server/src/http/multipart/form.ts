import type { Readable } from "node:stream";

/**
 * A file of a form: in memory if the form is small, streamed otherwise. The receiver owns the bytes and may free them
 * (`freeBuffer`).
 */
export interface MultipartFile {
  name: string;
  filename: string | undefined;
  /** As declared by the client; may not match the bytes. */
  contentType: string;
  body: Uint8Array | Readable;
}

export type MultipartEntry<T> =
  | { name: string; value: string }
  | { name: string; file: T; filename: string | undefined };

/** Explains a missing field to a client that sent it in another kind of body. */
export interface NotMultipart {
  kind: "not-multipart";
  ctx: { expected_content_type: string; given: string | null };
}

export type MultipartBody<T> = { kind: "form"; entries: MultipartEntry<T>[] } | NotMultipart;

/**
 * Receives one file; the next part is read when it resolves. It may stop reading early: the rest is dropped. If it
 * rejects, reading stops with the same error.
 */
export type OnFile<T> = (file: MultipartFile) => Promise<T>;

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
