import type { Readable } from "node:stream";

export interface BlobInfo {
  size: number;
  contentType: string;
  etag: string;
  modifiedAt: Date;
}

export interface ByteRange {
  /** Inclusive, as in HTTP. */
  start: number;
  end: number;
}

export interface SignedLink {
  url: string;
  method: "GET" | "PUT";
}

/**
 * The blob port: bytes under a key. Called by the files feature (which owns who may see what) and later by drives.
 *
 * What must hold for every driver (see `blobs.contract.ts`):
 * - `put` is all or nothing: a reader sees the old whole object or the new whole object, also after a crash; a body
 *   that is longer than `maxBytes` rejects with the fault `file_too_large` and leaves nothing; a full disk rejects with
 *   `storage_full` and leaves nothing; memory does not grow with the size;
 * - links are AWS Signature V4 query links with only `host` signed, valid for `expiresInSeconds`;
 * - `open` and `stat` answer undefined for what is not there, `delete` of it is no error.
 */
export interface BlobStore {
  readonly bucket: string;
  put(
    key: string,
    body: Readable | Uint8Array,
    options: { contentType: string; maxBytes?: number; signal?: AbortSignal },
  ): Promise<BlobInfo>;
  /** Takes over a local file (moves it where it can, uploads it otherwise). The file is gone afterwards. */
  putFile(key: string, path: string, options: { contentType: string }): Promise<BlobInfo>;
  stat(key: string): Promise<BlobInfo | undefined>;
  open(key: string, range?: ByteRange): Promise<{ info: BlobInfo; body: Readable } | undefined>;
  delete(key: string): Promise<void>;
  /** `base` is the address under which clients reach this server; a driver with an address of its own ignores it. */
  signGet(key: string, options: { base: string; expiresInSeconds: number; filename?: string }): Promise<SignedLink>;
  signPut(key: string, options: { base: string; expiresInSeconds: number; contentType?: string }): Promise<SignedLink>;
  close(): Promise<void>;
}
