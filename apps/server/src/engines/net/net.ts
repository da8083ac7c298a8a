import type { Readable } from "node:stream";

/** Why an outgoing call failed. Callers map it to a fault of their own; the message is safe to show to a user. */
export type NetFailure =
  /** Not http or https, too long, carries user info, or is no address at all. */
  | "invalid_url"
  /** Resolves to a range that user-caused calls may not reach. */
  | "address_refused"
  /** No connection: refused, unknown host, TLS not trusted. */
  | "unreachable"
  | "timeout"
  /** The answer broke off or is not HTTP. */
  | "cut"
  | "too_large"
  | "too_many_redirects"
  /** `download` only: an answer other than 200. */
  | "status";

/** Characters that an address may have, encoded as it is sent: whoever takes one for later refuses what is longer. */
export const longestAddress = 8192;

export class NetError extends Error {
  readonly reason: NetFailure;

  constructor(reason: NetFailure, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "NetError";
    this.reason = reason;
  }
}

const notPublic =
  "The address is not allowed: it is not on the public network; " +
  "the operator can allow it with GANTRY_ALLOW_PRIVATE_NETWORK=1";

/** The address lies in a private, loopback or otherwise special range. The message does not say which. */
export class AddressRefused extends NetError {
  constructor(options?: { cause?: unknown }) {
    super("address_refused", notPublic, options);
    this.name = "AddressRefused";
  }
}

export interface NetBounds {
  /** From the call to the last byte of the answer. */
  totalMs: number;
  /** From the sent request to the complete headers of the answer. */
  headersMs: number;
  /** Between two pieces of the answer's body. */
  idleMs: number;
  /** Of the answer's body. */
  maxBytes: number;
}

export interface NetRequest {
  url: string | URL;
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | undefined;
  headers?: Record<string, string | string[]> | undefined;
  body?: string | Uint8Array | Readable | undefined;
  /** Aborting ends the call at once, also while it waits for a connection; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  bounds?: Partial<NetBounds> | undefined;
}

export type NetHeaders = Record<string, string | string[] | undefined>;

/** A stream, or the whole at once; both end with `too_large` when the answer is longer than allowed. */
export interface NetBody extends Readable {
  text(): Promise<string>;
  json(): Promise<unknown>;
  bytes(): Promise<Uint8Array>;
  /** Reads and forgets a short rest, so that the connection can be used again; cuts a long one. */
  dump(): Promise<void>;
}

export interface NetResponse {
  status: number;
  headers: NetHeaders;
  /** Must be read, dumped or destroyed. */
  body: NetBody;
}

export interface NetControl {
  /** What has been read already still arrives. */
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

/** For relays: called as bytes arrive, without a stream in between. After `onResponseEnd` or `onResponseError`: nothing. */
export interface NetHandler {
  onResponseStart(control: NetControl, status: number, headers: NetHeaders): void;
  /** The chunk is the connection's to use again after the call: whoever keeps it copies it. */
  onResponseData(control: NetControl, chunk: Buffer): void;
  onResponseEnd(): void;
  onResponseError(error: Error): void;
}

export interface Download {
  body: Readable;
  contentType: string | undefined;
  /** As the server or the path names it, without any directory. */
  filename: string | undefined;
}

/**
 * The net port: the only way out for calls that users cause (model backends, file addresses, webhooks, tool servers,
 * the connector).
 *
 * What must hold:
 * - the address is checked when the connection is made, after the name was resolved, so that a name that changes its
 *   mind reaches nothing; an address that the operator set is exempt, but never as the target of a redirect;
 * - with an egress proxy, which resolves names itself, the address is checked before the proxy is asked;
 * - `request` and `dispatch` follow no redirect; `download` follows three, each checked anew;
 * - every call has an end: total time, header time, idle time, size; failures are `NetError`s;
 * - connections are kept and used again; the number of origins held open is bounded.
 */
export interface Net {
  request(request: NetRequest): Promise<NetResponse>;
  dispatch(request: NetRequest, handler: NetHandler): void;
  /** GET of a file. Rejects with `status` unless the answer is 200. */
  download(
    url: string | URL,
    options: { maxBytes: number; signal?: AbortSignal; totalMs?: number; idleMs?: number },
  ): Promise<Download>;
  close(): Promise<void>;
}
