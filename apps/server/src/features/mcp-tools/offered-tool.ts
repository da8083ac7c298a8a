import type { Caller } from "../accounts/index.ts";

/** A tool as an MCP client sees it. */
export interface OfferedTool {
  /** `[a-zA-Z0-9_-]{1,64}`, one of a kind for the caller. */
  name: string;
  title: string;
  description: string;
  /** JSON Schema of the arguments. */
  inputSchema: { type: "object"; [keyword: string]: unknown };
  annotations: { readOnlyHint?: boolean; destructiveHint?: boolean; openWorldHint: boolean };
}

export interface ToolCall {
  caller: Caller;
  /** Of the HTTP request, for the log. */
  requestId: string;
  name: string;
  arguments: Readonly<Record<string, unknown>>;
  /** The address that links carry. */
  baseUrl: string;
  /** Aborted when the client leaves or cancels. */
  signal: AbortSignal;
  /** Pieces of a text as it is made. */
  onText(text: string): void;
  /** A sentence on what is being done. */
  onNote(message: string): void;
}

export type AnswerPart =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string }
  | { type: "resource_link"; uri: string; name: string; mimeType?: string; size?: number };

/** What a call came to. A refusal and a failure are answers too: the model behind the client is to read them. */
export interface ToolAnswer {
  content: AnswerPart[];
  structured?: Record<string, unknown>;
  isError: boolean;
  /** Beside the answer, for programs: price, tokens, ids. */
  meta?: Record<string, unknown>;
}
