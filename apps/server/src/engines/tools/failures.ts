import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from "@modelcontextprotocol/client";
import { isRecord } from "../../kernel/is-record.ts";
import { NetError, type NetFailure } from "../net/net.ts";
import { type Json, textOf } from "./json.ts";
import { tooManyMessages } from "./message-limits.ts";
import { ToolServerError, type ToolServerFailure, type ToolServerTarget } from "./tools.ts";
import { floodCode, streamEndedCode, type WatchedTransport } from "./watched-transport.ts";

const ofNet: Record<NetFailure, ToolServerFailure> = {
  invalid_url: "unreachable",
  address_refused: "address_refused",
  unreachable: "unreachable",
  timeout: "timeout",
  cut: "cut",
  too_large: "too_large",
  too_many_redirects: "unreachable",
  status: "unreachable",
};
/** Nothing was sent. */
const beforeSending: ReadonlySet<NetFailure> = new Set(["invalid_url", "address_refused", "unreachable"]);

/**
 * The status of a refused request. For `sse` the library reports it as text, and also reports the status of an answer that
 * is not an event stream, which is not a refusal.
 */
function statusOf(error: unknown): { status: number; text: string } | undefined {
  if (error instanceof SdkHttpError) return { status: error.status, text: String(error.data.text ?? "") };
  if (error instanceof SseError && error.code !== undefined && error.code >= 300)
    return { status: error.code, text: "" };
  const posted =
    error instanceof Error ? /^Error POSTing to endpoint \(HTTP (\d{3})\): (.*)/s.exec(error.message) : null;
  return posted ? { status: Number(posted[1]), text: posted[2] ?? "" } : undefined;
}

/** JSON-RPC codes: method not found, invalid params. The server has read the request. */
const ofTheRequest: ReadonlySet<unknown> = new Set([-32_601, -32_602]);

/**
 * The server does not know the session and has not read the request. Impossible for a server that never assigned a session,
 * regardless of its error texts.
 */
export function isSessionLost(error: unknown, { hasSession }: Pick<WatchedTransport, "hasSession">): boolean {
  if (error instanceof SdkError && error.code === SdkErrorCode.NotConnected) return true;
  if (error instanceof Error && error.message === "Not connected") return true;
  const refusal = hasSession ? statusOf(error) : undefined;
  if (!refusal || ofTheRequest.has(rpcError(refusal.text)?.code)) return false;
  return refusal.status === 404 || (refusal.status === 400 && /session|not initialized/i.test(refusal.text));
}

/** Translates errors of the library, the net port and the server. */
export function toToolServerError(error: unknown): ToolServerError {
  if (error instanceof ToolServerError) return error;
  const unknown = { outcome: "unknown", cause: error } as const;
  if (error instanceof NetError) {
    return new ToolServerError(ofNet[error.reason], error.message, {
      cause: error,
      outcome: beforeSending.has(error.reason) ? "not_made" : "unknown",
    });
  }
  const refusal = statusOf(error);
  if (refusal) return ofStatus(refusal.status, error);
  if (error instanceof ProtocolError) {
    if (error.code === floodCode) return tooManyMessages();
    if (error.code === streamEndedCode) return new ToolServerError("cut", "The server's answer is incomplete", unknown);
    return new ToolServerError("protocol", `The server refuses: ${quote(error.message)}`, unknown);
  }
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.RequestTimeout) {
      return new ToolServerError("timeout", "The server did not answer in time", unknown);
    }
    if (error.code === SdkErrorCode.ConnectionClosed) {
      return new ToolServerError("cut", "The server closed the connection", unknown);
    }
  }
  const version = unknownVersion(error);
  if (version !== undefined) {
    const message = `The server uses version ${quote(version)} of the protocol, which is not supported`;
    return new ToolServerError("protocol", message, unknown);
  }
  return new ToolServerError("protocol", "The server does not answer like an MCP server", unknown);
}

function unknownVersion(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return /^Server's protocol version is not supported: (.*)/s.exec(error.message)?.[1];
}

/**
 * A call that was refused by its status. A JSON-RPC error in the body becomes the result of the call. A 4xx concerns one
 * call only and does not mark the server as unreachable. Undefined for statuses that concern all requests.
 */
export function refusedCall(
  error: unknown,
  transport: Pick<WatchedTransport, "hasSession">,
): { message: string } | ToolServerError | undefined {
  const refusal = statusOf(error);
  if (!refusal || [401, 403, 405].includes(refusal.status) || isSessionLost(error, transport)) return undefined;
  const { status, text } = refusal;
  const isOfOneCall = status >= 400 && status < 500;
  const explanation = textOf(rpcError(text)?.message);
  // A 404 without JSON-RPC: there is not an MCP server at this address.
  if (status === 404 && explanation === undefined) return undefined;
  if (isOfOneCall && explanation !== undefined) return { message: explanation };
  const { message, reason, outcome } = ofStatus(status, error);
  // HTML is not quoted.
  const quoted = quote(explanation ?? (/^\s*</.test(text) ? "" : text));
  return new ToolServerError(isOfOneCall ? "refused" : reason, quoted === "" ? message : `${message}: ${quoted}`, {
    cause: error,
    outcome,
    status,
  });
}

function rpcError(text: string): Json | undefined {
  try {
    const { jsonrpc, error }: Record<string, unknown> = Object(JSON.parse(text));
    return jsonrpc === "2.0" && isRecord(error) ? error : undefined;
  } catch {
    return undefined;
  }
}

/** For the handshake and listing, which do not call a tool. */
export function notMade({ reason, message, cause, status }: ToolServerError): ToolServerError {
  return new ToolServerError(reason, message, { cause, ...(status !== undefined && { status }) });
}

/** Adds advice that depends on how the server was registered. */
export function withAdvice(error: ToolServerError, { header, connectionType }: ToolServerTarget): ToolServerError {
  const { reason, status, outcome, cause } = error;
  const changed = (message: string) =>
    new ToolServerError(reason, message, { outcome, cause, ...(status !== undefined && { status }) });
  if (status === 401 && !header) {
    return changed("The server requires credentials (status 401). Add a token, a key or {type: oauth} as auth");
  }
  if (status === 405 && connectionType === "sse") {
    return changed(`${error.message}. Try the connection_type streamable_http`);
  }
  return error;
}

export function ofStatus(status: number, cause: unknown): ToolServerError {
  if (status === 401 || status === 403) {
    return new ToolServerError("unauthorized", `The server refuses the credentials (status ${status})`, {
      cause,
      status,
    });
  }
  // The call may have started before the server or its proxy failed.
  const outcome = status >= 500 ? "unknown" : "not_made";
  return new ToolServerError("unreachable", `The server answers with status ${status}`, { cause, outcome, status });
}

const longestQuote = 8192;

/**
 * A text of the server on one line, with a generous limit. Callers mask secrets first and shorten afterwards: a secret cut
 * in half would not be recognised.
 */
export function quote(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > longestQuote ? `${line.slice(0, longestQuote)}…` : line;
}
