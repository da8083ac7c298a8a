import { setTimeout as sleep } from "node:timers/promises";
import { type Fault, fault } from "../../kernel/errors.ts";
import { type Net, type NetBounds, NetError, type NetHeaders, type NetRequest, type NetResponse } from "../net/net.ts";
import { isUnavailable, isWorthRetrying, sentenceFor } from "./upstream-status.rules.ts";

/** One call to whoever answers for a model. */
export interface UpstreamCall {
  url: string;
  method?: NetRequest["method"];
  /** The same on every try: an idempotency id that the protocol takes belongs here. */
  headers?: Record<string, string>;
  /** A function is asked anew for every try, since a stream can be read once only. */
  body?: string | Uint8Array | (() => NetRequest["body"] | Promise<NetRequest["body"]>);
  /** What must never be seen in a log. */
  key?: string | undefined;
  signal: AbortSignal;
  bounds?: Partial<NetBounds>;
  /** At most this many tries, 3 unless told; 1 where a repeat would cost too much. */
  tries?: number;
  /** Where the protocol says in its error body that the content was refused, or which input was wrong. */
  explain?(status: number, body: string): Fault | undefined;
}

/**
 * What the upstream said when it failed. Only ever the `cause` of a fault. Its text may quote what the user sent, so the
 * log shows the status, the code and the upstream's request id alone.
 */
export class UpstreamFailure extends Error {
  readonly status: number;
  readonly body: string;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(answer: { status: number; body: string; headers?: NetHeaders | undefined; key?: string | undefined }) {
    super(`The upstream answered with status ${answer.status}`);
    this.name = "UpstreamFailure";
    this.status = answer.status;
    this.body = masked(answer.body, answer.key).slice(0, keptBody);
    this.code = codeIn(this.body);
    this.requestId = one(answer.headers?.["x-request-id"] ?? answer.headers?.["request-id"]);
    this.retryAfterMs = retryAfterOf(answer.headers);
  }
}

/** A failure whose details are the upstream's own words: `said` is for whoever debugs, never for the log. */
export class UpstreamSaid extends Error {
  readonly said: string;

  constructor(message: string, said: string) {
    super(message);
    this.name = "UpstreamSaid";
    this.said = said;
  }
}

/** The name of the error, where the body has one in any of the usual places: `error.code`, `error.type`, `code`, … */
function codeIn(body: string): string | undefined {
  for (const [, code] of body.matchAll(/"(?:code|type|status)"\s*:\s*"([A-Za-z0-9_.-]{2,64})"/g)) {
    if (code !== "error") return code;
  }
  return undefined;
}

/** Of an upstream's error text; enough for any error object, and a bound for the log. */
export const keptBody = 2048;
/** For the text of an error, whose status says enough. */
export const errorBodyMs = 1_000;
const longestWaitMs = 20_000;
const firstWaitMs = 250;
const always = () => true;

/** Appends a path to a base address, whether or not the base ends with a slash. */
export function joinUrl(base: string, path: string): string {
  return `${base.replace(/\/+$/, "")}/${path.replace(/^\/+/, "")}`;
}

/** The answer of a 2xx; everything else is a fault. Its body must be read, dumped or destroyed. */
export async function requestUpstream(net: Net, call: UpstreamCall): Promise<NetResponse> {
  for (let n = 1; ; n++) {
    call.signal.throwIfAborted();
    try {
      const request = netRequestOf(call);
      const answer = await net.request(request instanceof Promise ? await request : request);
      if (isSuccess(answer)) return answer;
      throw await refusal(call, answer);
    } catch (error) {
      await beforeNextTry(call, error, n, always);
    }
  }
}

/** The parsed JSON of a 2xx. An answer that is no JSON, too long or cut short is a fault. */
export function requestJson(net: Net, call: UpstreamCall): Promise<{ headers: NetHeaders; json: unknown }> {
  return withRetries(call, async () => {
    const answer = await answerOf(net, call);
    const text = await answer.body.text();
    return { headers: answer.headers, json: parsed(text, call.key) };
  });
}

async function answerOf(net: Net, call: UpstreamCall): Promise<NetResponse> {
  const answer = await net.request(await netRequestOf(call));
  if (isSuccess(answer)) return answer;
  throw await refusal(call, answer);
}

function isSuccess({ status }: NetResponse): boolean {
  return status >= 200 && status < 300;
}

async function refusal(call: UpstreamCall, answer: NetResponse): Promise<Error> {
  return refusalOf(call, answer.status, answer.headers, await head(answer));
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

/** What to throw for an answer that is no success. */
export function refusalOf(call: UpstreamCall, status: number, headers: NetHeaders, body: string): Error {
  return call.explain?.(status, body) ?? new UpstreamFailure({ status, headers, body, key: call.key });
}

/**
 * Tries again what a moment may heal: a busy or failing upstream, a connection that could not be made or broke off.
 * Never a time-out, since whoever waited that long must not wait three times. `mayRetry` says whether the client has
 * seen nothing yet. Rejects with a fault, or with the signal's reason after an abort.
 */
export async function withRetries<T>(
  call: Pick<UpstreamCall, "signal" | "tries" | "key">,
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

/** Waits until it is time for another try after the nth has failed; rejects where there is none. */
async function beforeNextTry(
  { signal, tries = 3, key }: Pick<UpstreamCall, "signal" | "tries" | "key">,
  error: unknown,
  n: number,
  mayRetry: () => boolean,
): Promise<void> {
  signal.throwIfAborted();
  const waitMs = n < tries && mayRetry() ? waitBeforeRetry(error, n) : undefined;
  if (waitMs === undefined) throw toFault(error, key);
  await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
}

function waitBeforeRetry(error: unknown, n: number): number | undefined {
  // Spread, so that those who were refused together do not come back together.
  const backoff = firstWaitMs * 3 ** (n - 1) * (0.75 + Math.random() / 2);
  if (error instanceof NetError) return error.reason === "unreachable" || error.reason === "cut" ? backoff : undefined;
  if (!(error instanceof UpstreamFailure) || !isWorthRetrying(error.status)) return undefined;
  const asked = error.retryAfterMs ?? 0;
  return asked > longestWaitMs ? undefined : Math.max(asked, backoff);
}

/** Any failure of an upstream call as a caller may see it: our own words and its status, nothing of what it said. */
export function toFault(error: unknown, key?: string): unknown {
  if (error instanceof UpstreamFailure) return answered(error);
  if (error instanceof NetError) {
    const cause = new Error(masked(error.message, key), { cause: error.cause });
    if (error.reason === "unreachable" || error.reason === "timeout") {
      const sentence = `The service behind the model cannot be reached. ${cause.message}`;
      return fault("downstream_service_unavailable", sentence, { cause });
    }
    if (error.reason === "address_refused" || error.reason === "invalid_url") {
      return fault("downstream_service_error", `The service behind the model may not be called. ${cause.message}`, {
        cause,
      });
    }
    return broken(cause);
  }
  return error;
}

function answered(cause: UpstreamFailure): Fault {
  const { status, retryAfterMs } = cause;
  const told = { cause, ctx: { upstream_status: status } };
  if (!isUnavailable(status)) return fault("downstream_service_error", sentenceFor(status), told);
  return fault("downstream_service_unavailable", "The service behind the model is overloaded or away for a moment", {
    ...told,
    ...(retryAfterMs !== undefined && { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) }),
  });
}

/**
 * The upstream broke off, or answered something that is none of its protocol. `cause` is for the log alone; the sentence
 * is for everybody, where the one for all of them would leave the owner of the model without a clue.
 */
export function broken(cause: Error, sentence = "The service behind the model failed or cut its answer short"): Fault {
  return fault("downstream_service_error", sentence, { cause });
}

/** The upstream's checker refused the prompt, an input or its own answer. */
export function refusedContent(cause: Error): Fault {
  return fault("content_policy_violation", "The content was refused by the service behind the model", { cause });
}

function parsed(text: string, key: string | undefined): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const cause = new UpstreamSaid("The upstream answered no JSON", masked(text, key).slice(0, keptBody));
    throw broken(cause, "The service behind the model answered no JSON");
  }
}

/** The beginning of an error body. A rest that is long or slow is cut; what was read until then is enough. */
async function head(answer: NetResponse): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  const patience = setTimeout(() => answer.body.destroy(), errorBodyMs);
  try {
    for await (const piece of answer.body) {
      pieces.push(piece as Buffer);
      size += (piece as Buffer).length;
      if (size >= keptBody * 4) break;
    }
  } catch {
    // The status says enough.
  } finally {
    clearTimeout(patience);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** Without the key, in whatever form an upstream may have echoed it. */
export function masked(text: string, key: string | undefined): string {
  if (key === undefined || key === "") return text;
  const forms = new Set([key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key)]);
  let clean = text;
  for (const form of forms) clean = clean.replaceAll(form, "[hidden]");
  return clean;
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
