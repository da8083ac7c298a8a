import type { Readable } from "node:stream";

/**
 * One file of a form. A small form's files are in memory, a large one's are streamed. Its bytes are the receiver's alone,
 * who may free them (`freeBuffer`).
 */
export interface MultipartFile {
  name: string;
  filename: string | undefined;
  /** As declared by the client; says nothing about the bytes. */
  contentType: string;
  body: Uint8Array | Readable;
}

export type MultipartEntry<T> =
  | { name: string; value: string }
  | { name: string; file: T; filename: string | undefined };

/** What is told beside a missing field, since whoever sent another body sees the field in it. */
export interface NotMultipart {
  kind: "not-multipart";
  ctx: { expected_content_type: string; given: string | null };
}

export type MultipartBody<T> = { kind: "form"; entries: MultipartEntry<T>[] } | NotMultipart;

/**
 * Takes one file; the next part is read when it resolves. It need not read a stream to its end: the rest is dropped as
 * it arrives. When it rejects, the reading stops and rejects with the same error.
 */
export type OnFile<T> = (file: MultipartFile) => Promise<T>;
