/** Where a tool server is and how to sign in to it. */
export interface ToolServerTarget {
  /** Connections are kept by id. */
  id: string;
  /** Another revision of the same id is another connection; the older one is closed. */
  revision: number;
  url: string;
  connectionType: "streamable_http" | "sse";
  /** The credential. Sent to the origin of `url` and nowhere else. */
  header?: { name: string; value: string };
}

/** A tool as the server lists it. What it says about itself is a claim, not a fact. */
export interface ServerTool {
  name: string;
  /** With the margin that a credential may need to be hidden in it before it is shown. */
  description: string;
  /** A JSON Schema of bounded size and depth. */
  parameters: Record<string, unknown>;
  /** It says that it changes nothing. */
  readOnly: boolean;
  /** It says outright that it may destroy something. */
  destructive: boolean;
}

/** Of what is shown of a tool's description. */
export const longestDescription = 8192;

/** Written as JSON, a character may take six. */
const longestCharacter = 6;

/**
 * What is kept of a description beyond that, where there is a credential: whoever shows it hides the credential first, and
 * of one that is cut through, a part would be left. Any that begins within what is shown is whole in what is kept.
 */
export function descriptionMargin({ header }: Pick<ToolServerTarget, "header">): number {
  return (header?.value.length ?? 0) * longestCharacter;
}

/** What a server offers, as far as it is read. */
export interface ToolList {
  tools: ServerTool[];
  /** Those that cannot be called from here, and why. */
  unusable: { name: string; reason: string }[];
  /** It has more of them than are read. */
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
  /** The tool, or the server in its place, says that the call failed. */
  isError: boolean;
}

export interface ToolProgress {
  progress: number;
  total: number | undefined;
  message: string | undefined;
}

export interface ToolCall {
  /** Who causes the call: users share the slots of a server. */
  userId: string;
  tool: string;
  arguments: Record<string, unknown>;
  /** Aborting tells the server, and rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: ToolProgress) => void) | undefined;
}

export type ToolServerFailure =
  /** The address is one that user-caused calls may not reach. */
  | "address_refused"
  | "unauthorized"
  /** No connection, a redirect, or an answer with an error status. */
  | "unreachable"
  /** It answers one call with an error status that says nothing about others. */
  | "refused"
  | "timeout"
  /** The answer broke off. */
  | "cut"
  | "too_large"
  /** It answers, but not as an MCP server does. */
  | "protocol"
  /** Too many calls wait for this server. */
  | "busy";

/** Why a server could not be used. The message is one sentence for the server's owner; it may quote the server. */
export class ToolServerError extends Error {
  readonly reason: ToolServerFailure;
  /** Whether a tool may have run nevertheless. */
  readonly outcome: "not_made" | "unknown";
  /** The status of the answer, where it is that. */
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
 * The tools port: other people's MCP servers. Called when a server is registered or changed, when its tools are listed,
 * and by runs.
 *
 * What must hold, whatever the server does:
 * - every call ends: connecting, listing and calling have deadlines; a call's is put off by progress, up to a limit;
 * - no answer takes memory or time without bound (bytes, messages, number of tools, size and depth of schemas) or ends
 *   the process;
 * - nothing is sent but to the origin of the address, through the net port; redirects are not followed;
 * - a session that the server no longer knows is opened anew once and the refused request repeated; a request whose
 *   answer broke off is never repeated;
 * - a few calls a server run side by side, the others wait; listing waits for none of them; connections are used again
 *   and closed when idle;
 * - failures are `ToolServerError`s; a call that the server answers with an error is a result with `isError`.
 */
export interface ToolServerClients {
  /** The server's tools, as of some seconds ago at most, or since it said that they changed; `fresh` asks it now. */
  listTools(target: ToolServerTarget, options?: { signal?: AbortSignal; fresh?: boolean }): Promise<ToolList>;
  callTool(target: ToolServerTarget, call: ToolCall): Promise<ToolResult>;
  /** Closes the connection to a server that was removed. */
  forget(serverId: string): void;
  close(): Promise<void>;
}
