import type { Database } from "../../engines/database/database.ts";
import type { Caller } from "../accounts/index.ts";
import { callTool } from "./call-tool.ts";
import type { McpToolsContext } from "./context.ts";
import { listTools, type ToolPage } from "./list-tools.ts";
import type { ToolAnswer, ToolCall } from "./offered-tool.ts";
import { type OpenCalls, startOpenCalls } from "./open-calls.ts";

/**
 * What Gantry offers to clients of the Model Context Protocol: the models that the caller may call, its own published
 * agents, and what its identity connector can read. Nothing that asks for a confirmation: there is nobody to ask.
 */
export interface McpTools {
  listTools(caller: Caller, cursor: string | undefined): Promise<ToolPage>;
  callTool(call: ToolCall): Promise<ToolAnswer | undefined>;
  calls: OpenCalls;
  /** Before the database closes. */
  close(): Promise<void>;
}

export async function openMcpTools({
  database,
  ...context
}: McpToolsContext & { database: Database }): Promise<McpTools> {
  const calls = await startOpenCalls(database);
  return {
    listTools: (caller, cursor) => listTools(context, caller, cursor),
    callTool: (call) => callTool(context, call),
    calls,
    close: () => calls.stop(),
  };
}
