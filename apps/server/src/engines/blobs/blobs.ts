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
  /** The chunks of the body are the store's: it frees their memory (`freeBuffer`) as soon as it has stored them. */
  ownsChunks?: boolean;
  /**
   * What must be done before the object is to be seen. The bytes are taken meanwhile; if it rejects, `put` rejects with
   * the same and leaves nothing.
   */
  after?: Promise<unknown>;
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
 *   `storage_full` and leaves nothing; an abort rejects with the signal's reason and leaves nothing; memory does not
 *   grow with the size;
 * - a `put` that rejects leaves its body unread and alive, for the caller to drain or destroy (destroying the body of an
 *   HTTP request would cut the connection before the refusal is sent); only an abort destroys it;
 * - links are AWS Signature V4 query links with only `host` signed, valid for `expiresInSeconds`;
 * - `open` and `stat` answer undefined for what is not there, `delete` of it is no error. Who opens a body reads it to
 *   the end or destroys it; it stays whole while the object is replaced or deleted, and one that breaks off before it is
 *   read keeps its error for the reader. A range that starts past the end rejects with a RangeError, one that ends past
 *   it is cut;
 * - a key is 1 to 1024 bytes of well-formed Unicode; `.` and `..` segments are refused, because no client would send
 *   them back unchanged in a link; a name whose link would exceed 2083 characters is refused (`string_too_long`).
 */
export interface BlobStore {
  readonly bucket: string;
  put(key: string, body: Readable | Uint8Array, options: PutOptions): Promise<BlobInfo>;
  /** Takes over a local file (moves it where it can, uploads it otherwise). The file is gone afterwards. */
  putFile(key: string, path: string, options: { contentType: string }): Promise<BlobInfo>;
  stat(key: string): Promise<BlobInfo | undefined>;
  open(key: string, range?: ByteRange): Promise<{ info: BlobInfo; body: Readable } | undefined>;
  delete(key: string): Promise<void>;
  /**
   * Every key that begins so, in no particular order, for backups and for clearing up. What is put or deleted meanwhile
   * may or may not be among them. It looks at every object: not for the path of a request.
   */
  keys(prefix?: string): AsyncIterable<string>;
  /**
   * `base` is the address under which clients reach this server; a driver with an address of its own ignores it.
   * `contentType` is what the object is served as, whatever type a client stored it with.
   */
  signGet(key: string, options: { base: string; expiresInSeconds: number; contentType: string }): Promise<SignedLink>;
  signPut(key: string, options: { base: string; expiresInSeconds: number; contentType?: string }): Promise<SignedLink>;
  close(): Promise<void>;
}

/** A request for one of the store's own links, as it came in. */
export interface LinkRequest {
  method: "GET" | "HEAD" | "PUT";
  /** Still encoded. */
  path: string;
  /** Still encoded, without the question mark. */
  query: string;
  /** Where the client may have sent it: a proxy can change the host and take a path prefix off. */
  origins: readonly { host: string; prefix: string }[];
}

/**
 * A store that has no server of its own: its links lead to ours, and the blob surface (`http/blob-api`) serves them.
 * `checkLink` is called first on each such request and throws `forbidden` unless the link is right, not expired and made
 * for this method (a GET link also allows HEAD).
 */
export interface LinkServedStore extends BlobStore {
  checkLink(request: LinkRequest): { key: string };
}
