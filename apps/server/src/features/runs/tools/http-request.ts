import { STATUS_CODES, validateHeaderName, validateHeaderValue } from "node:http";
import { type Net, NetError, type NetHeaders, type NetRequest, type NetResponse } from "../../../engines/net/net.ts";
import { bindingOf, fixedRequest, secretNames, type ToolInfo, withSecrets } from "../../agents/index.ts";
import type { Secrets } from "../../secrets/index.ts";
import { type Hiding, hiding } from "../../tool-servers/index.ts";
import {
  isOpenRun,
  isOwnersOwnRun,
  type RunScope,
  type RunTool,
  type ToolCallRequest,
  type ToolOutcome,
} from "./run-tool.ts";
import { shownText, type TakenBytes, takeBytes } from "./shown-content.ts";
import { failedWith } from "./tool-failure.ts";

const mostHeaders = 64;
const mostHeaderBytes = 16_384;
const longestShownHeader = 300;
const mostShownHeaders = 1000;

/** Headers of the connection, and accept-encoding: a compressed answer could not be shown. */
const droppedHeaders =
  /^(host|content-length|connection|transfer-encoding|proxy-.*|keep-alive|te|trailer|upgrade|expect|accept-encoding)$/i;

/** Response headers that help a model. Cookies are left out. */
const shownHeaders =
  /^(content-(type|length|language|disposition|encoding|range)|date|etag|last-modified|location|link|retry-after|allow|www-authenticate|x-request-id|(x-)?ratelimit-.+|x-total-count)$/;

export interface HttpRequestDeps {
  net: Net;
  secrets: Pick<Secrets, "reveal">;
  limitMs?: number;
}

/** Sends one guarded request to a public address, or only to the origin of the binding. Any status is a result. */
export function httpRequestTool(info: ToolInfo, deps: HttpRequestDeps, scope: RunScope): RunTool {
  const binding = bindingOf(scope.snapshot.tools, info.id);
  return {
    name: info.id,
    description:
      binding.origin === undefined
        ? info.description
        : `${info.description} Only addresses at ${binding.origin} are allowed.`,
    parameters: info.parameters,
    kind: info.kind,
    asks: false,
    execute: (call) => request(deps, scope, call),
  };
}

async function request(deps: HttpRequestDeps, scope: RunScope, call: ToolCallRequest): Promise<ToolOutcome> {
  const { method, url, headers: given = {}, body } = call.arguments;
  const { net, limitMs = 30_000 } = deps;
  const { signal } = call;
  const fixed = fixedRequest(bindingOf(scope.snapshot.tools, "http_request"));
  // `net` reports an invalid address.
  const address = URL.parse(String(url)) ?? String(url);
  if (fixed.origin !== undefined && (typeof address === "string" || address.origin !== fixed.origin)) {
    return failedWith(`The request was not sent: this tool only calls addresses at ${fixed.origin}.`);
  }
  if (fixed.origin === undefined && fixed.carriesValues && !isOwnersOwnRun(scope)) return failedWith(notBound);
  const secrets = await revealSecrets(deps, scope, fixed.origin, fixed.headers);
  if ("refusal" in secrets) return failedWith(secrets.refusal);
  const headers = Object.fromEntries(
    Object.entries(given as Record<string, string>).map(([name, value]) => {
      return [name, Object.hasOwn(fixed.headers, name) ? withSecrets(value, secrets.values) : value];
    }),
  );
  const wrong = headersIssue(headers, call.hidden?.includes("headers") ?? false);
  if (wrong !== undefined) return failedWith(wrong);
  const kept = Object.entries(fixed.headers).filter(([, value]) => !isOpenRun(scope) || secretNames(value).length > 0);
  const hidden = hidingAll([...secrets.values.values(), ...kept.map(([name]) => headers[name] ?? "")]);
  try {
    const answer = await net.request({
      method: method as NonNullable<NetRequest["method"]>,
      url: address,
      headers: sentHeaders(headers, body),
      ...(typeof body === "string" && body !== "" && { body }),
      signal,
      // Only the beginning of a long answer is read, so its length needs no limit.
      bounds: { totalMs: limitMs, headersMs: limitMs, idleMs: limitMs, maxBytes: Number.MAX_SAFE_INTEGER },
    });
    return { text: await describeResponse(answer, method === "HEAD", hidden), isError: false };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof NetError) {
      const why = call.hidden?.includes("url") ? error.discreet : error.message;
      return failedWith(hidden(`The request failed: ${why}. ${adviceFor(error, method)}`));
    }
    throw error;
  }
}

const notBound =
  "The request was not sent. The agent's creator fixed headers or a body without an origin, so they are not sent for other users. The creator sets `origin` in the agent's http_request binding and publishes it again.";

async function revealSecrets(
  { secrets }: HttpRequestDeps,
  scope: RunScope,
  origin: string | undefined,
  headers: Readonly<Record<string, string>>,
): Promise<{ values: Map<string, string> } | { refusal: string }> {
  const names = new Set(Object.values(headers).flatMap(secretNames));
  const values = new Map<string, string>();
  if (names.size > 0 && origin === undefined) {
    return {
      refusal: "The request was not sent: stored secrets are only sent to a fixed origin. Set `origin` in the binding.",
    };
  }
  for (const name of names) {
    const value = await secrets.reveal(scope.ownerId, name);
    if (value === undefined) {
      // Other users and applications do not see the names of secrets.
      const which = isOpenRun(scope) ? `The secret ${name}` : "A secret of the agent's creator";
      return {
        refusal: `The request was not sent: ${which} is not stored. Its owner stores it with PUT /api/v2/secrets.`,
      };
    }
    values.set(name, value);
  }
  return { values };
}

type Hide = (text: string, isWhole?: boolean) => string;

/** Masks values in text from the server. The end of a truncated text may be the beginning of a value. */
function hidingAll(values: readonly string[]): Hide {
  if (values.length === 0) return (text) => text;
  const all: Hiding[] = values.map(hiding);
  const longest = Math.max(...values.map(({ length }) => length));
  return (text, isWhole = true) => {
    const clean = all.reduce((shown, { mask }) => mask(shown), text);
    return isWhole ? clean : clean.slice(0, Math.max(0, clean.length - longest));
  };
}

/** `areHidden`: the creator fixed the headers, so their names are secret too. */
function headersIssue(headers: object, areHidden: boolean): string | undefined {
  const entries = Object.entries(headers);
  if (entries.length > mostHeaders) return `A request can have at most ${mostHeaders} headers`;
  let size = 0;
  for (const [name, value] of entries) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, String(value));
    } catch {
      const which = areHidden
        ? "A header that the agent's creator fixed"
        : `The header ${JSON.stringify(name.slice(0, 80))}`;
      return `${which} cannot be sent: its name or value contains invalid characters`;
    }
    size += name.length + String(value).length;
  }
  return size > mostHeaderBytes ? `The headers can have at most ${mostHeaderBytes} bytes` : undefined;
}

function sentHeaders(given: Readonly<Record<string, string>>, body: unknown): Record<string, string> {
  const kept = Object.entries(given).filter(([name]) => !droppedHeaders.test(name));
  const has = (wanted: string) => kept.some(([name]) => name.toLowerCase() === wanted);
  if (!has("user-agent")) kept.push(["user-agent", "Gantry"]);
  if (typeof body === "string" && body !== "" && !has("content-type")) kept.push(["content-type", guessedType(body)]);
  return Object.fromEntries(kept);
}

function guessedType(body: string): string {
  try {
    JSON.parse(body);
    return "application/json";
  } catch {
    return "text/plain; charset=utf-8";
  }
}

async function describeResponse({ status, headers, body }: NetResponse, isHead: boolean, hide: Hide): Promise<string> {
  const lines = [`HTTP ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd(), ...headerLines(headers, hide)];
  const taken = await takeBytes(body);
  if (isHead) return lines.join("\n");
  return `${lines.join("\n")}\n\n${contentText(taken, headers, hide)}`;
}

function headerLines(headers: NetHeaders, hide: Hide): string[] {
  const lines: string[] = [];
  let left = mostShownHeaders;
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || !shownHeaders.test(name)) continue;
    const line = `${name}: ${hide([value].flat().join(", ")).slice(0, longestShownHeader)}`.toWellFormed();
    left -= line.length;
    if (left < 0) break;
    lines.push(line);
  }
  return lines;
}

function contentText(taken: TakenBytes, headers: NetHeaders, hide: Hide): string {
  if (taken.bytes.length === 0) return "(no body)";
  const type = one(headers["content-type"]);
  const length = Number(one(headers["content-length"]));
  const total = taken.isWhole ? taken.bytes.length : length > 0 ? length : undefined;
  const charset = /charset\s*=\s*"?([\w.:-]+)/i.exec(type)?.[1];
  // Compressed bytes may look like text by chance.
  const text = one(headers["content-encoding"]) === "" ? shownText(taken, { charset, total, hide }) : undefined;
  if (text !== undefined) return text;
  const size = total === undefined ? `more than ${taken.bytes.length} bytes` : `${total} bytes`;
  return `[binary: ${type === "" ? "unknown type" : hide(type).slice(0, longestShownHeader)}, ${size}]`;
}

function one(value: string | string[] | undefined): string {
  return [value ?? ""].flat()[0] ?? "";
}

function adviceFor({ reason }: NetError, method: unknown): string {
  if (reason === "invalid_url") return "Use an http or https address without user name and password.";
  if (reason === "address_refused") return "Only public addresses can be called.";
  const isRead = method === "GET" || method === "HEAD";
  if (reason === "unreachable") return "Check the address, or try again later.";
  return isRead ? "Try again later." : "Whether the server acted on it is unknown. Check before you repeat it.";
}
