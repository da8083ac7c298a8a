import type { ProviderType } from "@gantry/wire";
import { isRecord } from "../../../kernel/is-record.ts";
import { type Net, NetError, type NetHeaders, type NetRequest } from "../../net/net.ts";
import { apiAddressOf } from "./address.rules.ts";
import { defaultUrlOf, type ProviderConnection } from "./connection.ts";
import { afterFreeTime } from "./free-time.ts";
import { ProviderFailure, type ProviderFailureReason } from "./provider-failure.ts";
import { type FailureContext, failure } from "./sentences.rules.ts";

export interface UpstreamReply {
  json: unknown;
  headers: NetHeaders;
}

interface CallOptions {
  query?: Record<string, string>;
  body?: unknown;
  /** The query of the provider does not replace this one. */
  keepsQuery?: boolean;
  /** Sends the key as another type does, for servers that speak several protocols. */
  as?: ProviderType;
  /** For the failure's sentence. */
  model?: string;
}

/** Calls to one provider, within one time limit. */
export interface UpstreamCalls {
  readonly type: ProviderType;
  /** Base of the protocol's routes, usually with `/v1`. */
  readonly api: string;
  /** Base of the server's own routes. */
  readonly root: string;
  readonly hasKey: boolean;
  /** Rejects with a `ProviderFailure`, or with the reason of the caller's signal. */
  call(url: string, options?: CallOptions): Promise<UpstreamReply>;
  /** Details that some servers have. Undefined if this one does not, or time is up. */
  find(url: string, options?: CallOptions): Promise<unknown>;
  fail(reason: ProviderFailureReason, context?: Partial<FailureContext>): ProviderFailure;
}

/** A list of 400 models with descriptions has 2 MB. */
const bytesOfAnswer = 8 * 1024 * 1024;
/** Of all answers, because one server may be asked for many pages and details. */
const bytesOfAnswers = 32 * 1024 * 1024;
/** For one call for details. */
const detailMs = 2500;
/** Of the time limit, for all details: a list without them is still good. */
const shareOfDetails = 2 / 3;
/** The net's own limits are behind the signal's. */
const behindMs = 60_000;
/** Characters of an error that are looked at. */
const readOfError = 4096;

type KeyHeaders = (key: string) => Record<string, string>;

const bearer: KeyHeaders = (key) => ({ authorization: `Bearer ${key}` });
const azureKey: KeyHeaders = (key) => ({ "api-key": key });

/** How a key is sent, where it is not a bearer token. */
const keyHeaders: Partial<Record<ProviderType, KeyHeaders>> = {
  anthropic: (key) => ({ "x-api-key": key }),
  gemini: (key) => ({ "x-goog-api-key": key }),
  azure: azureKey,
  "azure-deployments": azureKey,
};

const fixedHeaders: Partial<Record<ProviderType, Record<string, string>>> = {
  anthropic: { "anthropic-version": "2023-06-01" },
};

export function createUpstreamCalls(
  net: Net,
  connection: ProviderConnection,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): UpstreamCalls {
  const { type, key } = connection;
  const given = connection.url ?? defaultUrlOf(type) ?? "";
  const { api, root } = apiAddressOf(type, given);
  const deadline = afterFreeTime(timeoutMs);
  const endOfDetails = afterFreeTime(timeoutMs * shareOfDetails);
  const times = { totalMs: behindMs, headersMs: behindMs, idleMs: behindMs };
  let bytesLeft = bytesOfAnswers;
  const hasKey = key !== undefined && key !== "";
  const headersAs = (protocol: ProviderType) => ({
    accept: "application/json",
    ...fixedHeaders[protocol],
    ...(hasKey && (keyHeaders[protocol] ?? bearer)(key)),
    ...lowerCased(connection.headers),
  });

  function fail(reason: ProviderFailureReason, context: Partial<FailureContext> = {}, cause?: unknown) {
    return failure(reason, { type, url: given, hasKey, ...context }, { cause });
  }

  async function send(url: string, { query, body, keepsQuery, as = type }: CallOptions, ends = deadline) {
    const target = URL.parse(url);
    if (target === null) throw fail("invalid_url", { url: given });
    const parameters = keepsQuery ? { ...connection.query, ...query } : { ...query, ...connection.query };
    for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value);
    // Not every server reads a plus sign as a space.
    target.search = target.searchParams.toString().replaceAll("+", "%20");
    if (bytesLeft <= 0) throw fail("too_large", { url });
    const bounds = { ...times, maxBytes: Math.min(bytesOfAnswer, bytesLeft) };
    const headers = headersAs(as);
    const request: NetRequest = { url: target, headers, bounds, signal: AbortSignal.any([signal, ends]) };
    if (body !== undefined) {
      request.method = "POST";
      request.headers = { ...headers, "content-type": "application/json" };
      request.body = JSON.stringify(body);
    }
    try {
      const answer = await net.request(request);
      const text = await answer.body.text();
      bytesLeft -= text.length;
      return { status: answer.status, headers: answer.headers, text };
    } catch (error) {
      signal.throwIfAborted();
      if (ends.aborted) throw fail("timeout", { url }, error);
      if (error instanceof NetError) throw failureOfNet(error, url);
      throw error;
    }
  }

  function failureOfNet(error: NetError, url: string): ProviderFailure {
    const reason = reasonOfNet(error);
    // The entry that allows an address is for its owner to see; the name of the proxy is not.
    return fail(reason, { url, detail: reason === "proxy" ? error.discreet : error.message }, error);
  }

  async function call(url: string, options: CallOptions = {}, ends = deadline): Promise<UpstreamReply> {
    const { status, headers: received, text } = await send(url, options, ends);
    const context = { url, status, model: options.model };
    if (status < 200 || status >= 300) {
      throw fail(reasonOfStatus(status, text.slice(0, readOfError), hasKey, options.model), context);
    }
    const json = parsed(text);
    if (json === undefined) throw fail(isWebPage(received, text) ? "web_page" : "not_json", { url });
    const reported = reasonOfReported(json, hasKey);
    if (reported) throw fail(reported, { url, model: options.model });
    return { json, headers: received };
  }

  async function find(url: string, options?: CallOptions): Promise<unknown> {
    try {
      const ends = AbortSignal.any([endOfDetails, AbortSignal.timeout(detailMs)]);
      return (await call(url, options, ends)).json;
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error;
      return undefined;
    }
  }

  return { type, api, root, hasKey, call: (url, options) => call(url, options), find, fail };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

const unknownHost = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_NODATA"]);
const untrusted = /^(?:ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;

function reasonOfNet(error: NetError): ProviderFailureReason {
  switch (error.reason) {
    case "unreachable": {
      if (error.discreet.startsWith("The egress proxy")) return "proxy";
      const code = codeOf(error.cause);
      if (unknownHost.has(code)) return "unknown_host";
      if (code === "ECONNREFUSED") return "connection_refused";
      return untrusted.test(code) ? "tls" : "unreachable";
    }
    case "invalid_url":
    case "address_refused":
    case "timeout":
    case "cut":
    case "too_large":
      return error.reason;
    default:
      return "failed";
  }
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if (!(error instanceof Error)) return "";
  return "code" in error ? String(error.code) : codeOf(error.cause);
}

const namesKey = /api[ _-]?key|unauthorized|authenticat|credential/i;
const limitReached = /max_tokens or model output limit was reached/i;
const namesModel =
  /model[^"]{0,200}(?:not (?:found|exist|loaded)|does not exist|unknown)|model_not_found|no such model/i;

function reasonOfStatus(
  status: number,
  body: string,
  hasKey: boolean,
  model: string | undefined,
): ProviderFailureReason {
  if (status >= 300 && status < 400) return "redirect";
  if (status === 401) return hasKey ? "key_refused" : "key_missing";
  if (status === 403) return hasKey ? "not_allowed" : "key_missing";
  // Google answers a wrong key with 400.
  if (status === 400 && /API_KEY_INVALID|api key not valid/i.test(body)) return hasKey ? "key_refused" : "key_missing";
  if (status === 400 && limitReached.test(body)) return "limit_reached";
  if (model !== undefined && status < 500 && namesModel.test(body)) return "unknown_model";
  if (status === 404 || status === 405) return model === undefined ? "not_found" : "unknown_model";
  if (status === 402 || status === 408 || status === 429 || status === 529) return "busy";
  // llama.cpp answers so while it reads the model.
  if (status === 503 && /loading model/i.test(body)) return "starting";
  return status >= 500 ? "failed" : "refused";
}

/** Some servers answer every request with 200, and LM Studio even one for an unknown route. */
function reasonOfReported(json: unknown, hasKey: boolean): ProviderFailureReason | undefined {
  if (!isRecord(json) || !json.error || "data" in json || "models" in json || "choices" in json) return undefined;
  const text = JSON.stringify(json.error).slice(0, readOfError);
  if (/unexpected endpoint|not found/i.test(text)) return "not_found";
  if (namesKey.test(text)) return hasKey ? "key_refused" : "key_missing";
  return "refused";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isWebPage(headers: NetHeaders, text: string): boolean {
  return String(headers["content-type"] ?? "").includes("text/html") || /^\s*<(?:!doctype|html|head|body)/i.test(text);
}
