import { createHash } from "node:crypto";
import type { Database } from "../../engines/database/database.ts";
import type { Caller } from "../accounts/index.ts";
import { callTool } from "./call-tool.ts";
import { listTools, type ToolPage } from "./catalog.ts";
import type { McpToolsContext, ToolAnswer, ToolCall } from "./context.ts";

/**
 * Tools for clients of the Model Context Protocol: models that the caller may call, the caller's published agents, and
 * read actions of the identity connector. Tools that need a confirmation are left out: MCP clients cannot answer one.
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

/** A call as the client names it: a request id within a session id. */
export interface CallAddress {
  keyId: string;
  session: string;
  requestId: string | number;
}

export interface OpenCalls {
  /** Aborted when the client cancels the call on any node. */
  open(address: CallAddress): { signal: AbortSignal; close(): void };
  cancel(address: CallAddress): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Calls under way on this node. A cancel message is a separate request and may reach another node. Sessions have no other
 * state; a client without a session cancels by closing the connection.
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

/** Hashed to a fixed length, because clients choose session and id. */
function keyOf({ keyId, session, requestId }: CallAddress): string {
  return createHash("sha256")
    .update(JSON.stringify([keyId, session, requestId]))
    .digest("base64url");
}
