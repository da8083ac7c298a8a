/** Address and credential of a tool server. */
export interface ToolServerTarget {
  /** Connections are kept by id, and by user where each user has credentials of their own. */
  id: string;
  user?: string;
  /** A new revision replaces the connection. */
  revision: number | string;
  url: string;
  connectionType: "streamable_http" | "sse";
  /** The credential. Sent only to the origin of `url`. A connection uses the latest one that it was called with. */
  header?: { name: string; value: string };
}

/** A tool as the server lists it. Its hints are not verified. */
export interface ServerTool {
  name: string;
  /** Includes a margin, so that a credential in it can be masked before it is shortened. */
  description: string;
  /** A JSON Schema of bounded size and depth. */
  parameters: Record<string, unknown>;
  /** The server claims that the tool changes nothing. */
  readOnly: boolean;
  /** The server claims that the tool may destroy something. */
  destructive: boolean;
}

/** Limit of a shown description. */
export const longestDescription = 8192;

/** A character escaped in JSON. */
const longestCharacter = 6;

/**
 * Characters kept beyond the limit. Credentials are masked before the description is shortened, so one that starts within
 * the limit must be kept whole.
 */
export function descriptionMargin({ header }: Pick<ToolServerTarget, "header">): number {
  return (header?.value.length ?? 0) * longestCharacter;
}

export interface ToolList {
  tools: ServerTool[];
  /** Tools that cannot be called. */
  unusable: { name: string; reason: string }[];
  /** The server has more tools than the limit. */
  isCut: boolean;
}

export type ToolContent =
  | { type: "text"; text: string }
  | { type: "image" | "audio"; mimeType: string; bytes: number }
  | { type: "resource"; uri: string; mimeType: string | undefined; text: string }
  | { type: "blob"; uri: string; mimeType: string | undefined; bytes: number }
  | { type: "link"; uri: string; name: string; mimeType: string | undefined; description: string | undefined }
  | { type: "unknown"; kind: string };

export interface ToolResult {
  content: ToolContent[];
  structured: unknown;
  /** The tool or the server reports a failed call. */
  isError: boolean;
}

export interface ToolProgress {
  progress: number;
  total: number | undefined;
  message: string | undefined;
}

export interface ToolCall {
  /** Users share the slots of a server fairly. */
  userId: string;
  tool: string;
  arguments: Record<string, unknown>;
  /** Aborting notifies the server and rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: ToolProgress) => void) | undefined;
}

export type ToolServerFailure =
  /** A private address, which calls of users may not reach. */
  | "address_refused"
  | "unauthorized"
  /** The user has not authorized the server, or the authorization has ended. */
  | "authorization_required"
  /** No connection, a redirect, or an answer with an error status. */
  | "unreachable"
  /** An error status that concerns one call only. */
  | "refused"
  | "timeout"
  /** The answer was interrupted. */
  | "cut"
  | "too_large"
  /** Not an answer of an MCP server. */
  | "protocol"
  /** Too many calls wait for this server. */
  | "busy";

/** The message is for the server's owner and may quote the server. */
export class ToolServerError extends Error {
  readonly reason: ToolServerFailure;
  /** `unknown`: the tool may have run. */
  readonly outcome: "not_made" | "unknown";
  /** The status of the answer, if that is the reason. */
  readonly status: number | undefined;

  constructor(
    reason: ToolServerFailure,
    message: string,
    options: { outcome?: "not_made" | "unknown"; status?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ToolServerError";
    this.reason = reason;
    this.outcome = options.outcome ?? "not_made";
    this.status = options.status;
  }
}

/**
 * The tools port: MCP servers of third parties. Used when a server is registered or changed, when its tools are listed, and
 * by runs.
 *
 * Guarantees, whatever the server does:
 * - connecting, listing and calling have deadlines. Progress extends the deadline of a call, up to a limit;
 * - memory and time are bounded (bytes, messages, number of tools, size and depth of schemas);
 * - requests go only to the origin of the address, through the net port. Redirects are not followed;
 * - if the server has lost the session, a new one is opened and the refused request is repeated once. A request with an
 *   interrupted answer is never repeated;
 * - each server has a few slots for calls; listing does not need one. Connections are reused and closed when idle;
 * - failures are `ToolServerError`s. A call that the server answers with an error is a result with `isError`.
 */
export interface ToolServerClients {
  /** Cached for some seconds, unless the server reports a change. `fresh` bypasses the cache. */
  listTools(target: ToolServerTarget, options?: { signal?: AbortSignal; fresh?: boolean }): Promise<ToolList>;
  callTool(target: ToolServerTarget, call: ToolCall): Promise<ToolResult>;
  /** Closes the connections of a removed server, of all users. */
  forget(serverId: string): void;
  close(): Promise<void>;
}
