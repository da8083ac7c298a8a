import { STATUS_CODES, validateHeaderName, validateHeaderValue } from "node:http";
import { type Net, NetError, type NetHeaders, type NetRequest, type NetResponse } from "../../../engines/net/net.ts";
import type { ToolInfo } from "../../agents/index.ts";
import type { RunTool, ToolCallRequest, ToolOutcome } from "./run-tool.ts";
import { shownText, type TakenBytes, takeBytes } from "./shown-content.ts";
import { failedWith } from "./tool-failure.ts";

const mostHeaders = 64;
const mostHeaderBytes = 16_384;
const longestShownHeader = 300;
const mostShownHeaders = 1000;

/** These are the connection's, not the request's; and an answer that is packed could not be shown. */
const droppedHeaders =
  /^(host|content-length|connection|transfer-encoding|proxy-.*|keep-alive|te|trailer|upgrade|expect|accept-encoding)$/i;

/** What a model can use of an answer's headers. Cookies are nobody's to read. */
const shownHeaders =
  /^(content-(type|length|language|disposition|encoding|range)|date|etag|last-modified|location|link|retry-after|allow|www-authenticate|x-request-id|(x-)?ratelimit-.+|x-total-count)$/;

/** One request to wherever the model says, through the guarded way out. Every answer is a result, whatever its status. */
export function httpRequestTool(info: ToolInfo, { net, limitMs = 30_000 }: { net: Net; limitMs?: number }): RunTool {
  return {
    name: info.id,
    description: info.description,
    parameters: info.parameters,
    kind: info.kind,
    asks: false,
    execute: (call) => request(net, limitMs, call),
  };
}

async function request(net: Net, limitMs: number, call: ToolCallRequest): Promise<ToolOutcome> {
  const { arguments: given, hidden = [], signal } = call;
  const { method, url, headers = {}, body } = given;
  const wrong = headersIssue(headers as object, hidden.includes("headers"));
  if (wrong !== undefined) return failedWith(wrong);
  try {
    const answer = await net.request({
      method: method as NonNullable<NetRequest["method"]>,
      url: String(url),
      headers: sentHeaders(headers as Record<string, string>, body),
      ...(typeof body === "string" && body !== "" && { body }),
      signal,
      // The rest of a long answer is left where it is, so its length needs no bound.
      bounds: { totalMs: limitMs, headersMs: limitMs, idleMs: limitMs, maxBytes: Number.MAX_SAFE_INTEGER },
    });
    return { text: await described(answer, method === "HEAD"), isError: false };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof NetError)
      return failedWith(`The request failed: ${error.message}. ${whatNext(error, method)}`);
    throw error;
  }
}

/** `areHidden`: they are the creator's, and what they are called may be as secret as what they say. */
function headersIssue(headers: object, areHidden: boolean): string | undefined {
  const entries = Object.entries(headers);
  if (entries.length > mostHeaders) return `A request has ${mostHeaders} headers at most`;
  let size = 0;
  for (const [name, value] of entries) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, String(value));
    } catch {
      const which = areHidden
        ? "A header that the agent's creator fixed"
        : `The header ${JSON.stringify(name.slice(0, 80))}`;
      return `${which} cannot be sent: its name or value has characters that no header may have`;
    }
    size += name.length + String(value).length;
  }
  return size > mostHeaderBytes ? `The headers have ${mostHeaderBytes} bytes at most` : undefined;
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

async function described({ status, headers, body }: NetResponse, isHead: boolean): Promise<string> {
  const lines = [`HTTP ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd(), ...headerLines(headers)];
  const taken = await takeBytes(body);
  if (isHead) return lines.join("\n");
  return `${lines.join("\n")}\n\n${contentText(taken, headers)}`;
}

function headerLines(headers: NetHeaders): string[] {
  const lines: string[] = [];
  let left = mostShownHeaders;
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || !shownHeaders.test(name)) continue;
    const line = `${name}: ${[value].flat().join(", ").slice(0, longestShownHeader)}`.toWellFormed();
    left -= line.length;
    if (left < 0) break;
    lines.push(line);
  }
  return lines;
}

function contentText(taken: TakenBytes, headers: NetHeaders): string {
  if (taken.bytes.length === 0) return "(no body)";
  const type = one(headers["content-type"]);
  const length = Number(one(headers["content-length"]));
  const total = taken.isWhole ? taken.bytes.length : length > 0 ? length : undefined;
  const charset = /charset\s*=\s*"?([\w.:-]+)/i.exec(type)?.[1];
  // Bytes that are packed may look like text by accident.
  const text = one(headers["content-encoding"]) === "" ? shownText(taken, { charset, total }) : undefined;
  if (text !== undefined) return text;
  const size = total === undefined ? `more than ${taken.bytes.length} bytes` : `${total} bytes`;
  return `[binary: ${type === "" ? "of an unknown type" : type.slice(0, longestShownHeader)}, ${size}]`;
}

function one(value: string | string[] | undefined): string {
  return [value ?? ""].flat()[0] ?? "";
}

function whatNext({ reason }: NetError, method: unknown): string {
  if (reason === "invalid_url") return "Give an http or https address without user name and password.";
  if (reason === "address_refused") return "Only public addresses can be called.";
  const isRead = method === "GET" || method === "HEAD";
  if (reason === "unreachable") return "Check the address, or repeat later.";
  return isRead ? "Repeat later." : "Whether the server acted on it is unknown: look before repeating.";
}
