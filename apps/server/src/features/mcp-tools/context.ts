import type { Readable } from "node:stream";
import type { Log } from "../../kernel/log.ts";
import type { Micros } from "../../kernel/money.ts";
import type { Caller } from "../accounts/index.ts";
import type { Agents } from "../agents/index.ts";
import type { IdpConnector } from "../connectors/idp/index.ts";
import type { Model, Models } from "../models/index.ts";
import type { CheckedInput, FormReader, Predictions, StoredOutput } from "../predictions/index.ts";
import type { ToolServers } from "../tool-servers/index.ts";

/** How a run of an agent ended, or that it goes on without its caller waiting any longer. */
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

/** Creates a run of one of the caller's own agents and waits for its end. Rejects with a fault when none was created. */
export type RunAgent = (
  caller: Caller,
  request: {
    agentId: string;
    /** The revision that was found not to ask for anything. */
    revisionId: string;
    input: Readonly<Record<string, unknown>>;
    baseUrl: string;
    signal: AbortSignal;
    /** What the run does, a sentence at a time. */
    onNote(message: string): void;
  },
) => Promise<AgentRunEnd>;

/** What the use cases of this feature work with. */
export interface McpToolsContext {
  log: Log;
  models: Pick<Models, "getModel" | "listModels" | "resolveForCall">;
  predictions: Pick<Predictions, "look" | "run">;
  idp: Pick<IdpConnector, "read" | "describeTools" | "runAction">;
  agents: Pick<Agents, "listAgents" | "readRevision" | "getRunnable" | "tools">;
  /** To see what agents' servers would ask. */
  toolServers: Pick<ToolServers, "describeTools">;
  runAgent: RunAgent;
  /**
   * A schema whose top is an object and nothing else, and the way back from an answer to it. Clients pass the tools on to
   * models whose services refuse all of them for one that has anything else.
   */
  objectParameters(schema: Record<string, unknown>): {
    schema: Record<string, unknown>;
    restore?: ((value: unknown) => unknown) | undefined;
  };
  /** The one reader of input; see features/predictions/input. */
  readInput(request: {
    caller: Caller;
    model: Model;
    extras: { user: boolean; webhook: boolean };
    readForm: FormReader;
    signal: AbortSignal;
  }): Promise<CheckedInput>;
  /** Ready download links of the files among a prediction's outputs, by field. */
  linksOf(predictionId: string, output: StoredOutput, base: string): Promise<Record<string, unknown>>;
  /** A file that a prediction of the user made. */
  openOutput(caller: Caller, s3Path: string): Promise<OutputFile | undefined>;
  /** A download link for an address that is known to be the reader's. */
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
