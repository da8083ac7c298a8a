import { type ToolProgress, ToolServerError } from "../../engines/tools/tools.ts";
import type { ToolServersContext } from "./context.ts";
import { resultText } from "./result-text.rules.ts";
import { findServerOrThrow, useServer } from "./use-server.ts";

export interface ServerToolCall {
  ownerId: string;
  serverId: string;
  /** The caller of the run. */
  userId: string;
  /** The name that the server uses. */
  tool: string;
  arguments: Record<string, unknown>;
  /** An abort is sent to the server; the call rejects with the signal's reason. */
  signal?: AbortSignal;
  onProgress?(progress: ToolProgress): void;
}

export interface ServerToolOutcome {
  /** For the model, at most 64 kB. */
  text: string;
  isError: boolean;
  truncated: boolean;
  /** Set when no answer arrived: the tool did not run, or it is unknown whether it ran. */
  failure?: "not_made" | "unknown";
  /** The caller has not authorized the server, or the authorization has ended. */
  needsAuthorization?: boolean;
}

/** Calls a tool for a run. Failures of the server are outcomes; only an abort or an unknown server rejects. */
export async function callTool(context: ToolServersContext, call: ServerToolCall): Promise<ServerToolOutcome> {
  const server = await findServerOrThrow(context, call.ownerId, call.serverId);
  const { userId, tool, arguments: given, signal, onProgress } = call;
  try {
    return await useServer(context, server, userId, async (target, { mask }) => {
      const result = await context.clients.callTool(target, { userId, tool, arguments: given, signal, onProgress });
      return { ...resultText(result, mask), isError: result.isError };
    });
  } catch (error) {
    if (!(error instanceof ToolServerError)) throw error;
    context.log.warn({ server_id: server.id, reason: error.reason, outcome: error.outcome }, "tool call failed");
    if (error.reason === "authorization_required") {
      const text = `The tool server ${server.name} requires the authorization of the user who started the run. The tool did not run.`;
      return { text, isError: true, truncated: false, failure: error.outcome, needsAuthorization: true };
    }
    const ran = error.outcome === "unknown" ? "Whether the tool ran is unknown." : "The tool did not run.";
    const text = `The tool server ${server.name} failed: ${error.message}. ${ran}`;
    return { text, isError: true, truncated: false, failure: error.outcome };
  }
}
