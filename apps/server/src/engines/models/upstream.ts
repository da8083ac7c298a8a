import { setTimeout as sleep } from "node:timers/promises";
import { type Fault, fault } from "../../kernel/errors.ts";
import {
  type Net,
  type NetBounds,
  NetError,
  type NetFailure,
  type NetHeaders,
  type NetRequest,
  type NetResponse,
} from "../net/net.ts";
import { hideNothing, type Mask } from "./mask.ts";
import { sentenceIn } from "./request-sentence.rules.ts";
import { isTemporary, isWorthRetrying, sentenceFor } from "./upstream-status.rules.ts";

/** One call to the upstream of a model. */
export interface UpstreamCall {
  url: string;
  method?: NetRequest["method"];
  /** Sent with every try, for example an idempotency key. */
  headers?: Record<string, string>;
  /** A function opens the body for each try, because a stream can be read only once. */
  body?: string | Uint8Array | (() => NetRequest["body"] | Promise<NetRequest["body"]>);
  /** Applied to everything that is kept of an answer or failure. */
  mask?: Mask | undefined;
  signal: AbortSignal;
  bounds?: Partial<NetBounds>;
  /** 3 by default. */
  tries?: number | undefined;
  /** The upstream computes a picture, a video or the like. See `isWorthRetrying`. */
  isMediaRun?: boolean;
  /** Called when the upstream has accepted the call: a 2xx status has arrived. */
  onBegun?: (() => void) | undefined;
  /** For protocols whose error body reports refused content or an invalid input. */
  explain?(status: number, body: string): Fault | undefined;
  /** Bytes of an error body that `explain` needs. Default: 8192. */
  errorBytes?: number;
}

/**
 * An error response of the upstream, used only as the `cause` of a fault. Its body may quote user input, so the log shows
 * only the status, the code and the upstream's request id.
 */
export class UpstreamFailure extends Error {
  readonly status: number;
  readonly body: string;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** See `sentenceAboutRequest` in driver.ts. */
  readonly requestSentence: string | undefined;

  constructor(answer: { status: number; body: string; headers?: NetHeaders | undefined; mask?: Mask | undefined }) {
    super(`The upstream answered with status ${answer.status}`);
    this.name = "UpstreamFailure";
    this.status = answer.status;
    const { mask = hideNothing } = answer;
    const body = mask(answer.body);
    this.requestSentence = sentenceIn(answer.status, body);
    this.body = body.slice(0, keptBody);
    this.code = codeIn(this.body);
    const requestId = one(answer.headers?.["x-request-id"] ?? answer.headers?.["request-id"]);
    this.requestId = requestId === undefined ? undefined : mask(requestId);
    this.retryAfterMs = retryAfterOf(answer.headers);
  }
}

/** No usable answer arrived, used only as the `cause` of a fault. */
export class UpstreamLost extends Error {
  readonly reason: NetFailure;

  constructor(reason: NetFailure, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "UpstreamLost";
    this.reason = reason;
  }
}

/** A failure with text of the upstream: `details` is for a debugger and is never logged. */
export class UpstreamError extends Error {
  readonly details: string;

  constructor(message: string, details: string) {
    super(message);
    this.name = "UpstreamError";
    this.details = details;
  }
}

function codeIn(body: string): string | undefined {
  for (const [, code] of body.matchAll(/"(?:code|type|status)"\s*:\s*"([A-Za-z0-9_.-]{2,64})"/g)) {
    if (code !== "error") return code;
  }
  return undefined;
}

/** Characters kept of an error body. */
export const keptBody = 2048;
/** Time to wait for an error body. Without it the status is enough. */
export const errorBodyMs = 1_000;
/** An upstream that asks for a longer wait is not tried again. */
export const longestWaitMs = 20_000;
const firstWaitMs = 250;
const always = () => true;

export function joinUrl(base: string, path: string): string {
  return `${base.replace(/\/+$/, "")}/${path.replace(/^\/+/, "")}`;
}

/** Resolves with a 2xx response; any other outcome is a fault. The body must be read, dumped or destroyed. */
export async function requestUpstream(net: Net, call: UpstreamCall): Promise<NetResponse> {
  for (let n = 1; ; n++) {
    call.signal.throwIfAborted();
    try {
      return await requestUpstreamOnce(net, call);
    } catch (error) {
      await beforeNextTry(call, error, n, always);
    }
  }
}

/** One try, for callers that retry by rules of their own. Rejects with errors that are not faults yet. */
export async function requestUpstreamOnce(net: Net, call: UpstreamCall): Promise<NetResponse> {
  const request = netRequestOf(call);
  const answer = await net.request(request instanceof Promise ? await request : request);
  if (!isSuccess(answer)) throw await refusal(call, answer);
  call.onBegun?.();
  return answer;
}

export function requestJson(net: Net, call: UpstreamCall): Promise<{ headers: NetHeaders; json: unknown }> {
  return withRetries(call, () => requestJsonOnce(net, call));
}

/** One try, for callers that also retry failures reported within the JSON. */
export async function requestJsonOnce(net: Net, call: UpstreamCall): Promise<{ headers: NetHeaders; json: unknown }> {
  const answer = await net.request(await netRequestOf(call));
  if (!isSuccess(answer)) throw await refusal(call, answer);
  call.onBegun?.();
  return { headers: answer.headers, json: parsed(await answer.body.text(), call.mask) };
}

function isSuccess({ status }: NetResponse): boolean {
  return status >= 200 && status < 300;
}

async function refusal(call: UpstreamCall, answer: NetResponse): Promise<Error> {
  return refusalOf(call, answer.status, answer.headers, await head(answer, call.errorBytes));
}

export function netRequestOf(call: UpstreamCall): NetRequest | Promise<NetRequest> {
  return typeof call.body === "function" ? withOpenedBody(call, call.body) : withBody(call, call.body);
}

async function withOpenedBody(call: UpstreamCall, open: () => NetRequest["body"] | Promise<NetRequest["body"]>) {
  return withBody(call, await open());
}

function withBody(
  { url, method = "POST", signal, headers, bounds }: UpstreamCall,
  body: NetRequest["body"],
): NetRequest {
  return { url, method, signal, headers, body, bounds };
}

export function refusalOf(call: UpstreamCall, status: number, headers: NetHeaders, body: string): Error {
  return call.explain?.(status, body) ?? new UpstreamFailure({ status, headers, body, mask: call.mask });
}

type Retried = Pick<UpstreamCall, "signal" | "tries" | "mask" | "isMediaRun">;

/**
 * Retries when the upstream is busy or fails, or the connection cannot be made or breaks. Timeouts are not retried: the
 * caller would wait three times as long. `mayRetry` is false once the client has received output. Rejects with a fault, or
 * with the signal's reason after an abort.
 */
export async function withRetries<T>(
  call: Retried,
  attempt: () => Promise<T>,
  mayRetry: () => boolean = always,
): Promise<T> {
  for (let n = 1; ; n++) {
    call.signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      await beforeNextTry(call, error, n, mayRetry);
    }
  }
}

async function beforeNextTry(
  { signal, tries = 3, mask, isMediaRun = false }: Retried,
  error: unknown,
  n: number,
  mayRetry: () => boolean,
): Promise<void> {
  signal.throwIfAborted();
  const waitMs = n < tries && mayRetry() ? waitBeforeRetry(error, n, isMediaRun) : undefined;
  if (waitMs === undefined) throw toFault(error, mask);
  await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
}

/** The wait after the n-th failure. Jitter, so that calls refused together do not retry together. */
export function backoffAfter(n: number): number {
  return firstWaitMs * 3 ** (n - 1) * (0.75 + Math.random() / 2);
}

function waitBeforeRetry(error: unknown, n: number, isMediaRun: boolean): number | undefined {
  const backoff = backoffAfter(n);
  if (error instanceof NetError) return error.reason === "unreachable" || error.reason === "cut" ? backoff : undefined;
  if (!(error instanceof UpstreamFailure) || !isWorthRetrying(error.status, { isMediaRun })) return undefined;
  const asked = error.retryAfterMs ?? 0;
  return asked > longestWaitMs ? undefined : Math.max(asked, backoff);
}

/** The public form of a failure: the status and our own text, never the upstream's. */
export function toFault(error: unknown, mask: Mask = hideNothing): unknown {
  if (error instanceof UpstreamFailure) return answered(error);
  if (error instanceof NetError) {
    const cause = new UpstreamLost(error.reason, mask(error.message), { cause: error.cause });
    if (error.reason === "unreachable" || error.reason === "timeout") {
      const sentence = `The service behind the model cannot be reached. ${mask(error.discreet)}`;
      return fault("downstream_service_unavailable", sentence, { cause });
    }
    if (error.reason === "address_refused" || error.reason === "invalid_url") {
      const sentence = `Calls to the service behind the model are not allowed. ${mask(error.discreet)}`;
      return fault("downstream_service_error", sentence, { cause });
    }
    return broken(cause);
  }
  return error;
}

function answered(cause: UpstreamFailure): Fault {
  const { status, retryAfterMs } = cause;
  const options = { cause, ctx: { upstream_status: status } };
  if (!isTemporary(status)) return fault("downstream_service_error", sentenceFor(status), options);
  return fault("downstream_service_unavailable", "The service behind the model is overloaded or unavailable.", {
    ...options,
    ...(retryAfterMs !== undefined && { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) }),
  });
}

/** The upstream broke off or violated its protocol. `cause` is only logged; `sentence` is public. */
export function broken(cause: Error, sentence = "The service behind the model failed or cut its answer short"): Fault {
  return fault("downstream_service_error", sentence, { cause });
}

export function refusedContent(cause: Error): Fault {
  return fault("content_policy_violation", "The content was refused by the service behind the model", { cause });
}

function parsed(text: string, mask: Mask = hideNothing): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const cause = new UpstreamError("The upstream did not answer with JSON", mask(text).slice(0, keptBody));
    throw broken(cause, "The service behind the model did not answer with JSON.");
  }
}

/** The start of an error body. Stops reading when the body is long or slow. */
async function head(answer: NetResponse, most = keptBody * 4): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(() => answer.body.destroy(), errorBodyMs);
  try {
    for await (const chunk of answer.body) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size >= most) break;
    }
  } catch {
    // The status is enough.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function retryAfterOf(headers: NetHeaders | undefined): number | undefined {
  const given = one(headers?.["retry-after"])?.trim();
  if (given === undefined || given === "") return undefined;
  const ms = /^\d+(\.\d+)?$/.test(given) ? Number(given) * 1000 : Date.parse(given) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), 86_400_000);
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
