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

export interface PutOptions {
  contentType: string;
  maxBytes?: number;
  signal?: AbortSignal;
  /** The store may free the chunks (`freeBuffer`) once it has stored them. */
  ownsChunks?: boolean;
  /**
   * The object becomes visible only after this resolves; its bytes are read meanwhile. If it rejects, `put` rejects with
   * the same error and leaves nothing.
   */
  after?: Promise<unknown>;
}

export interface SignedLink {
  url: string;
  method: "GET" | "PUT";
}

/**
 * The blob port: bytes under a key. Access control belongs to the features that call it.
 *
 * Every driver guarantees (see `blobs.contract.ts`):
 * - `put` is atomic, also across a crash. A body longer than `maxBytes` rejects with `file_too_large`, a full disk with
 *   `storage_full`, an abort with the signal's reason; each leaves nothing. Memory does not grow with the size;
 * - a rejected `put` leaves its body alive, for the caller to drain or destroy: destroying the body of an HTTP request would
 *   close the connection before the error is sent. Only an abort destroys it;
 * - links are AWS Signature V4 query links with only `host` signed, valid for `expiresInSeconds`, or less if the store's
 *   own credentials end earlier. `X-Amz-Expires` says how long;
 * - `open` and `stat` return undefined for a missing object, and deleting one is not an error. The caller reads an opened
 *   body to the end or destroys it. It stays complete while the object is replaced or deleted. A range that starts past
 *   the end rejects with a RangeError, one that ends past it is cut;
 * - a key is 1 to 1024 bytes of well-formed Unicode without `.` and `..` segments, which clients change in a link. A name
 *   whose link would exceed 2083 characters is refused (`string_too_long`).
 */
export interface BlobStore {
  readonly bucket: string;
  put(key: string, body: Readable | Uint8Array, options: PutOptions): Promise<BlobInfo>;
  /** Moves a local file into the store, or uploads and removes it. */
  putFile(key: string, path: string, options: { contentType: string }): Promise<BlobInfo>;
  stat(key: string): Promise<BlobInfo | undefined>;
  open(key: string, range?: ByteRange): Promise<{ info: BlobInfo; body: Readable } | undefined>;
  delete(key: string): Promise<void>;
  /**
   * All keys with the prefix, in any order, for backups and cleaning up. Scans every object: not for a request. Concurrent
   * changes may or may not be included.
   */
  keys(prefix?: string): AsyncIterable<string>;
  /**
   * `base` is the URL of this server for clients; a driver with an address of its own ignores it. The object is served
   * with `contentType`, whatever type it was stored with.
   */
  signGet(key: string, options: { base: string; expiresInSeconds: number; contentType: string }): Promise<SignedLink>;
  signPut(key: string, options: { base: string; expiresInSeconds: number; contentType?: string }): Promise<SignedLink>;
  close(): Promise<void>;
}

export interface LinkRequest {
  method: "GET" | "HEAD" | "PUT";
  /** Still encoded. */
  path: string;
  /** Still encoded, without the question mark. */
  query: string;
  /** Possible original addresses: a proxy can change the host and remove a path prefix. */
  origins: readonly { host: string; prefix: string }[];
}

/**
 * A store whose links point to this server, served by `http/blob-api`. `checkLink` throws `forbidden` unless the link is
 * valid, not expired and made for this method (a GET link also allows HEAD).
 */
export interface LinkServedStore extends BlobStore {
  checkLink(request: LinkRequest): { key: string };
}
