import type { Readable } from "node:stream";
import type { Log } from "../../kernel/log.ts";
import type { Micros } from "../../kernel/money.ts";
import type { Caller } from "../accounts/index.ts";
import type { Agents } from "../agents/index.ts";
import type { IdpConnector } from "../connectors/idp/index.ts";
import type { Models } from "../models/index.ts";
import type { Predictions, ReadModelInput, RequestOrigin, StoredOutput } from "../predictions/index.ts";
import type { ToolServers } from "../tool-servers/index.ts";

/** How a run ended; `running` if the caller stopped waiting first. */
export type AgentRunEnd = AgentRunFigures &
  (
    | { status: "done"; output: Record<string, unknown> }
    | { status: "error"; error: { type: string; message: string } }
    | { status: "running" }
  );

export interface AgentRunFigures {
  runId: string;
  costMicros: Micros;
  usage: { inputTokens: number; outputTokens: number; cachedTokens: number; cacheWriteTokens: number };
}

/** Creates a run of an agent of the caller and waits for its end. Rejects with a fault if the run is not created. */
export type RunAgent = (
  caller: Caller,
  request: {
    agentId: string;
    /** The revision that was checked to need no confirmation. */
    revisionId: string;
    input: Readonly<Record<string, unknown>>;
    baseUrl: string;
    signal: AbortSignal;
    /** One sentence about what the run does. */
    onNote(message: string): void;
  },
) => Promise<AgentRunEnd>;

export interface McpToolsContext {
  log: Log;
  models: Pick<Models, "getModel" | "listModels" | "resolveForCall">;
  predictions: Pick<Predictions, "look" | "run">;
  idp: Pick<IdpConnector, "read" | "describeTools" | "runAction">;
  agents: Pick<Agents, "listAgents" | "readRevision" | "getRunnable" | "keyReachesAgent" | "tools">;
  /** To see which tools of servers need a confirmation. */
  toolServers: Pick<ToolServers, "describeTools">;
  runAgent: RunAgent;
  /**
   * A schema with an object at the top, and the function that restores an answer. Model services refuse all tools of a
   * request if one has another schema.
   */
  objectParameters(schema: Record<string, unknown>): {
    schema: Record<string, unknown>;
    restore?: ((value: unknown) => unknown) | undefined;
  };
  readInput: ReadModelInput;
  /** Download links of the files in an output, by field. */
  linksOf(predictionId: string, output: StoredOutput, base: string): Promise<Record<string, unknown>>;
  /** An output file of the caller. */
  openOutput(caller: Caller, s3Path: string): Promise<OutputFile | undefined>;
  /** A download link for an address that belongs to the reader. */
  linkOf(s3Path: string, base: string): Promise<{ url: string }>;
}

export interface OutputFile {
  filename: string;
  contentType: string;
  size: number;
  open(): Promise<Readable>;
}

/** A tool as an MCP client sees it. */
export interface OfferedTool {
  /** `[a-zA-Z0-9_-]{1,64}`, unique for the caller. */
  name: string;
  title: string;
  description: string;
  /** JSON Schema of the arguments. */
  inputSchema: { type: "object"; [keyword: string]: unknown };
  annotations: { readOnlyHint?: boolean; destructiveHint?: boolean; openWorldHint: boolean };
}

export interface ToolCall {
  caller: Caller;
  /** For the log. */
  requestId: string;
  origin: RequestOrigin;
  name: string;
  arguments: Readonly<Record<string, unknown>>;
  /** Base of links. */
  baseUrl: string;
  /** Aborted when the client disconnects or cancels. */
  signal: AbortSignal;
  /** Fragments of streamed text. */
  onText(text: string): void;
  /** One sentence about progress. */
  onNote(message: string): void;
}

export type AnswerPart =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string }
  | { type: "resource_link"; uri: string; name: string; mimeType?: string; size?: number };

/** The result of a call. Refusals and failures are answers too, so that the model of the client reads them. */
export interface ToolAnswer {
  content: AnswerPart[];
  structured?: Record<string, unknown>;
  isError: boolean;
  /** For programs: charge, tokens, ids. */
  meta?: Record<string, unknown>;
}
