import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from "@modelcontextprotocol/client";
import { NetError, type NetFailure } from "../net/net.ts";
import { ToolServerError, type ToolServerFailure } from "./tools.ts";
import { streamEndedCode } from "./watched-transport.ts";

const longestQuote = 300;

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

/** The server does not know the session; it has not looked at the request itself. */
export function isSessionLost(error: unknown): boolean {
  if (error instanceof SdkError && error.code === SdkErrorCode.NotConnected) return true;
  if (error instanceof Error && error.message === "Not connected") return true;
  const refusal = statusOf(error);
  if (refusal?.status === 404) return true;
  return refusal?.status === 400 && /session|not initialized/i.test(refusal.text);
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
  return new ToolServerError("protocol", "The server does not answer as an MCP server does", unknown);
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

function quote(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > longestQuote ? `${line.slice(0, longestQuote)}…` : line;
}
