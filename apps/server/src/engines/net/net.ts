import type { Readable } from "node:stream";

/** Why an outgoing call failed. Callers map it to a fault. The message is safe to show to users. */
export type NetFailure =
  /** Not an http or https address, too long, or with user info. */
  | "invalid_url"
  /** Resolves to a range that calls of users may not reach. */
  | "address_refused"
  /** No connection: refused, unknown host, TLS not trusted. */
  | "unreachable"
  | "timeout"
  /** The answer is incomplete or not HTTP. */
  | "cut"
  | "too_large"
  | "too_many_redirects"
  /** `download` only: an answer other than 200. */
  | "status";

/** Characters of an encoded address. Features that store addresses refuse longer ones. */
export const longestAddress = 8192;

export class NetError extends Error {
  readonly reason: NetFailure;
  /** The message for people who must not learn the address, such as callers of another user's model. */
  readonly discreet: string;

  constructor(reason: NetFailure, message: string, options: { cause?: unknown; discreet?: string } = {}) {
    super(message, options);
    this.name = "NetError";
    this.reason = reason;
    this.discreet = options.discreet ?? message;
  }
}

const setting = "GANTRY_ALLOW_PRIVATE_NETWORK";
const notPublic = "The address is not allowed: it is not on the public network. The operator can allow it";

/** The message shows the entry to add, and does not reveal which special range it is or what a name resolves to. */
export class AddressRefused extends NetError {
  /** Without an entry: a name of a link-local or metadata address, which only its number can allow. */
  constructor(entry?: string) {
    const message =
      entry === undefined
        ? `${notPublic} only by its IP address in ${setting}`
        : `${notPublic}: add ${entry} to ${setting}`;
    super("address_refused", message, { discreet: `${notPublic} in ${setting}` });
    this.name = "AddressRefused";
  }
}

export interface NetBounds {
  /** Until the last byte of the answer. */
  totalMs: number;
  /** From the sent request to the complete headers. */
  headersMs: number;
  /** Between two chunks of the body. */
  idleMs: number;
  /** Limit of the answer's body. */
  maxBytes: number;
}

export interface NetRequest {
  url: string | URL;
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | undefined;
  headers?: Record<string, string | string[]> | undefined;
  body?: string | Uint8Array | Readable | undefined;
  /** Aborting ends the call at once, even while it waits for a connection, and rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  bounds?: Partial<NetBounds> | undefined;
}

export type NetHeaders = Record<string, string | string[] | undefined>;

/** Read it as a stream or at once. Both fail with `too_large` if the answer is too long. */
export interface NetBody extends Readable {
  text(): Promise<string>;
  json(): Promise<unknown>;
  bytes(): Promise<Uint8Array>;
  /** Discards a short rest, so that the connection can be reused. Cuts a long one. */
  dump(): Promise<void>;
}

export interface NetResponse {
  status: number;
  headers: NetHeaders;
  /** Must be read, dumped or destroyed. */
  body: NetBody;
}

export interface NetControl {
  /** Bytes that were read already still arrive. */
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

/** For relays: receives bytes without a stream in between. Not called after `onResponseEnd` or `onResponseError`. */
export interface NetHandler {
  onResponseStart(control: NetControl, status: number, headers: NetHeaders): void;
  /** The chunk is only valid during the call. Copy it to keep it. */
  onResponseData(control: NetControl, chunk: Buffer): void;
  onResponseEnd(): void;
  onResponseError(error: Error): void;
}

export interface Download {
  body: Readable;
  contentType: string | undefined;
  /** From the server or the path, without directories. */
  filename: string | undefined;
  /** After redirects. */
  url: string;
}

export interface DownloadOptions {
  maxBytes: number;
  signal?: AbortSignal;
  totalMs?: number;
  idleMs?: number;
  /** The `Accept` header; default: any type. */
  accept?: string;
}

/**
 * The net port: the only way out for calls on behalf of users (model backends, file addresses, webhooks, tool servers, the
 * connector).
 *
 * Guarantees:
 * - the address is checked at connect time, after the name was resolved, so a changing name does not help. Addresses set by
 *   the operator are exempt, but never as the target of a redirect;
 * - an egress proxy resolves names itself, so the address is checked before the proxy is asked. Private addresses are never
 *   asked of the proxy;
 * - `request` and `dispatch` do not follow redirects; `download` follows three and checks each;
 * - total time, header time, idle time and size are bounded. Failures are `NetError`s;
 * - connections are reused. The number of open origins is bounded.
 */
export interface Net {
  request(request: NetRequest): Promise<NetResponse>;
  dispatch(request: NetRequest, handler: NetHandler): void;
  /** Rejects with `status` unless the answer is 200. */
  download(url: string | URL, options: DownloadOptions): Promise<Download>;
  close(): Promise<void>;
}
