import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from "@modelcontextprotocol/client";
import { NetError, type NetFailure } from "../net/net.ts";
import { isObject, type Json, textOf } from "./json.ts";
import { tooManyMessages } from "./message-count.ts";
import { quote } from "./quote.rules.ts";
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
/** With these, nothing was sent. */
const beforeSending: ReadonlySet<NetFailure> = new Set(["invalid_url", "address_refused", "unreachable"]);

/**
 * The status that the server refused a request with. In the older connection type the library puts it into a text, and
 * names the status of an answer that is no stream of events too, which is no refusal.
 */
function statusOf(error: unknown): { status: number; text: string } | undefined {
  if (error instanceof SdkHttpError) return { status: error.status, text: String(error.data.text ?? "") };
  if (error instanceof SseError && error.code !== undefined && error.code >= 300)
    return { status: error.code, text: "" };
  const posted =
    error instanceof Error ? /^Error POSTing to endpoint \(HTTP (\d{3})\): (.*)/s.exec(error.message) : null;
  return posted ? { status: Number(posted[1]), text: posted[2] ?? "" } : undefined;
}

/** Codes of JSON-RPC for a method, or arguments, that a server has looked at. */
const ofTheRequest: ReadonlySet<unknown> = new Set([-32_601, -32_602]);

/**
 * The server does not know the session; it has not looked at the request itself. One that never gave a session has none to
 * lose, whatever its refusals say.
 */
export function isSessionLost(error: unknown, { hasSession }: Pick<WatchedTransport, "hasSession">): boolean {
  if (error instanceof SdkError && error.code === SdkErrorCode.NotConnected) return true;
  if (error instanceof Error && error.message === "Not connected") return true;
  const refusal = hasSession ? statusOf(error) : undefined;
  if (!refusal || ofTheRequest.has(rpcError(refusal.text)?.code)) return false;
  return refusal.status === 404 || (refusal.status === 400 && /session|not initialized/i.test(refusal.text));
}

/** Whatever the library, the net port or the server made of a request, in our words. */
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
    if (error.code === streamEndedCode) return new ToolServerError("cut", "The server broke off its answer", unknown);
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
    const message = `The server speaks version ${quote(version)} of the protocol, which is not known here`;
    return new ToolServerError("protocol", message, unknown);
  }
  return new ToolServerError("protocol", "The server does not answer as an MCP server does", unknown);
}

/** The library has it in a text alone. */
function unknownVersion(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return /^Server's protocol version is not supported: (.*)/s.exec(error.message)?.[1];
}

/**
 * A call that was refused by its status, with the server's own word on it: where that is an error of JSON-RPC, as one that
 * came with any other answer. What is wrong with one call says nothing about the server; what says more is told as it is
 * of every request.
 */
export function refusedCall(
  error: unknown,
  transport: Pick<WatchedTransport, "hasSession">,
): { message: string } | ToolServerError | undefined {
  const refusal = statusOf(error);
  if (!refusal || [401, 403, 405].includes(refusal.status) || isSessionLost(error, transport)) return undefined;
  const { status, text } = refusal;
  const isOfOneCall = status >= 400 && status < 500;
  const said = textOf(rpcError(text)?.message);
  // Without a word of JSON-RPC there is no MCP server at this address.
  if (status === 404 && said === undefined) return undefined;
  if (isOfOneCall && said !== undefined) return { message: said };
  const { message, reason, outcome } = ofStatus(status, error);
  // A page for a browser explains nothing to anybody else.
  const words = quote(said ?? (/^\s*</.test(text) ? "" : text));
  return new ToolServerError(isOfOneCall ? "refused" : reason, words === "" ? message : `${message}: ${words}`, {
    cause: error,
    outcome,
    status,
  });
}

function rpcError(text: string): Json | undefined {
  try {
    const { jsonrpc, error }: Record<string, unknown> = Object(JSON.parse(text));
    return jsonrpc === "2.0" && isObject(error) ? error : undefined;
  } catch {
    return undefined;
  }
}

/** Shaking hands and listing call no tool. */
export function notMade({ reason, message, cause, status }: ToolServerError): ToolServerError {
  return new ToolServerError(reason, message, { cause, ...(status !== undefined && { status }) });
}

/** What its owner can do about it, where that depends on how the server was registered. */
export function withAdvice(error: ToolServerError, { header, connectionType }: ToolServerTarget): ToolServerError {
  const { reason, status, outcome, cause } = error;
  const changed = (message: string) =>
    new ToolServerError(reason, message, { outcome, cause, ...(status !== undefined && { status }) });
  if (status === 401 && !header) {
    return changed("The server wants credentials (status 401): give a token or a key as auth. There is no OAuth here");
  }
  if (status === 405 && connectionType === "sse") {
    return changed(`${error.message}; it may be one for the connection_type streamable_http`);
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
  // A server, or a proxy before it, that fails may have begun.
  const outcome = status >= 500 ? "unknown" : "not_made";
  return new ToolServerError("unreachable", `The server answers with status ${status}`, { cause, outcome, status });
}
