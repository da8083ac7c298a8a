import { afterEach, beforeEach } from "vitest";
import { createNet } from "../net/create-net.ts";
import type { Net } from "../net/net.ts";
import type { ToolLimits } from "./limits.ts";
import { createMcpTools } from "./mcp-tools.ts";
import { type Script, type ScriptedServer, scriptedServer } from "./scripted-server.fixture.ts";
import type { ToolCall, ToolServerClients, ToolServerTarget } from "./tools.ts";

export interface Bench {
  server: ScriptedServer;
  tools: ToolServerClients;
  target: ToolServerTarget;
  call(more?: Partial<ToolCall>): ReturnType<ToolServerClients["callTool"]>;
  count(method: string): number;
}

/** A client and a scripted server for each test. Closes both, and everything in `opened`, after the test. */
export function useToolsBench() {
  let net: Net;
  const opened: { close(): Promise<void> }[] = [];

  beforeEach(() => {
    net = createNet({ allowPrivateNetwork: true });
  });
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close();
    await net.close();
  });

  return {
    opened,
    async bench(script: Script = {}, limits: Partial<ToolLimits> = {}): Promise<Bench> {
      const server = await scriptedServer(script);
      const tools = createMcpTools({ net, version: "1.2.3", limits });
      opened.push(server, tools);
      const target: ToolServerTarget = { id: "mcp_1", revision: 1, url: server.url, connectionType: "streamable_http" };
      return {
        server,
        tools,
        target,
        call: (more = {}) => tools.callTool(target, { userId: "one", tool: "echo", arguments: {}, ...more }),
        count: (method) => server.messages.filter((message) => message.method === method).length,
      };
    },
  };
}
