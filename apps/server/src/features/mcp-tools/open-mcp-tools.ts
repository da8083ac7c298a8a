import { createHash } from "node:crypto";
import type { Database } from "../../engines/database/database.ts";
import type { Caller } from "../accounts/index.ts";
import { callTool } from "./call-tool.ts";
import { listTools, type ToolPage } from "./catalog.ts";
import type { McpToolsContext, ToolAnswer, ToolCall } from "./context.ts";

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

const channel = "gantry_mcp_cancel";

/** A call as its client names it: the number of its request within what the client calls its session. */
export interface CallAddress {
  keyId: string;
  session: string;
  requestId: string | number;
}

export interface OpenCalls {
  /** Aborted when the client cancels the call, through whichever node. */
  open(address: CallAddress): { signal: AbortSignal; close(): void };
  cancel(address: CallAddress): Promise<void>;
  stop(): Promise<void>;
}

/**
 * The calls under way on this node, for clients that cancel by a message of its own: it comes with another request, and
 * may come to another node. Nothing is kept of a session but this; a client without one cancels by leaving.
 */
export async function startOpenCalls(database: Database): Promise<OpenCalls> {
  const calls = new Map<string, AbortController>();
  const abort = (key: string) => calls.get(key)?.abort(new Error("The client cancelled the call"));
  const listening = await database.listen(channel, abort);
  return {
    open(address) {
      const key = keyOf(address);
      const controller = new AbortController();
      calls.set(key, controller);
      return {
        signal: controller.signal,
        close: () => {
          if (calls.get(key) === controller) calls.delete(key);
        },
      };
    },
    async cancel(address) {
      const key = keyOf(address);
      if (calls.has(key)) abort(key);
      else await database.sql`select pg_notify(${channel}, ${key})`;
    },
    stop: () => listening.stop(),
  };
}

/** Of one length whatever the client chose, and of no use to anybody else. */
function keyOf({ keyId, session, requestId }: CallAddress): string {
  return createHash("sha256")
    .update(JSON.stringify([keyId, session, requestId]))
    .digest("base64url");
}
