import { type ToolProgress, ToolServerError } from "../../engines/tools/tools.ts";
import type { ToolServersContext } from "./context.ts";
import { resultText } from "./result-text.rules.ts";
import { findServerOrThrow, useServer } from "./use-server.ts";

export interface ServerToolCall {
  /** Whose server it is. */
  ownerId: string;
  serverId: string;
  /** Who causes the call. */
  userId: string;
  /** As the server names it. */
  tool: string;
  arguments: Record<string, unknown>;
  /** Aborting tells the server, and rejects with the signal's reason. */
  signal?: AbortSignal;
  onProgress?(progress: ToolProgress): void;
}

export interface ServerToolOutcome {
  /** What the model gets: at most 64 kB. */
  text: string;
  isError: boolean;
  truncated: boolean;
  /** Where no answer came: whether the tool surely did not run, or nobody knows. */
  failure?: "not_made" | "unknown";
}

/**
 * Calls a tool for a run. Whatever goes wrong at the server is an outcome, told to the model; only the caller's abort
 * and a server that is not the owner's reject.
 */
export async function callTool(context: ToolServersContext, call: ServerToolCall): Promise<ServerToolOutcome> {
  const server = await findServerOrThrow(context, call.ownerId, call.serverId);
  const { userId, tool, arguments: given, signal, onProgress } = call;
  try {
    return await useServer(context, server, async (target, { mask }) => {
      const result = await context.clients.callTool(target, { userId, tool, arguments: given, signal, onProgress });
      return { ...resultText(result, mask), isError: result.isError };
    });
  } catch (error) {
    if (!(error instanceof ToolServerError)) throw error;
    context.log.warn({ server_id: server.id, reason: error.reason, outcome: error.outcome }, "a tool call failed");
    const ran = error.outcome === "unknown" ? "Whether the tool ran is unknown." : "The tool did not run.";
    const text = `The tool server ${server.name} failed: ${error.message}. ${ran}`;
    return { text, isError: true, truncated: false, failure: error.outcome };
  }
}
