import { randomBytes } from "node:crypto";
import { Writable } from "node:stream";
import { pino } from "pino";
import type { Database } from "../../engines/database/database.ts";
import { createNet } from "../../engines/net/create-net.ts";
import type { ToolLimits } from "../../engines/tools/limits.ts";
import { createMcpTools } from "../../engines/tools/mcp-tools.ts";
import { createOAuth } from "../../engines/tools/oauth/create-oauth.ts";
import type { Script, ScriptedServer } from "../../engines/tools/scripted-server.fixture.ts";
import { scriptedServer } from "../../engines/tools/scripted-server.fixture.ts";
import { createAesVault } from "../../engines/vault/aes-vault.ts";
import type { Log } from "../../kernel/log.ts";
import { openToolServers, type ToolServers } from "./index.ts";

export interface ToolServersUnderTest {
  toolServers: ToolServers;
  log: Log;
  logged(): string;
  /** Agents that use the server. */
  users: { id: string; name: string }[];
  /** Starts an MCP server that closes with the test. */
  serve(script?: Script): Promise<ScriptedServer>;
  /** Like another process: separate memory, other options. */
  another(options: { allowPrivateNetwork?: boolean; secretKey?: Uint8Array }): ToolServers;
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** The feature on a real database, vault and network, with MCP servers. */
export function toolServersUnderTest(database: Database, limits: Partial<ToolLimits> = {}): ToolServersUnderTest {
  let logged = "";
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged += String(chunk);
      done();
    },
  });
  const log = pino({ level: "trace" }, sink);
  const key = randomBytes(32);
  const opened: { close(): Promise<void> }[] = [];
  const servers: ScriptedServer[] = [];
  const users: ToolServersUnderTest["users"] = [];

  const open: ToolServersUnderTest["another"] = ({ allowPrivateNetwork = true, secretKey = key }) => {
    const net = createNet({ allowPrivateNetwork });
    const clients = createMcpTools({ net, version: "1.2.3", limits });
    opened.push(net, clients);
    const vault = createAesVault(secretKey);
    return openToolServers({
      database,
      vault,
      clients,
      oauth: createOAuth(net),
      log,
      agentsUsingToolServer: async () => users,
    });
  };

  return {
    toolServers: open({}),
    log,
    logged: () => logged,
    users,
    async serve(script) {
      const server = await scriptedServer(script);
      servers.push(server);
      return server;
    },
    another: open,
    async clear() {
      users.length = 0;
      await Promise.all(servers.splice(0).map((server) => server.close()));
    },
    async close() {
      for (const one of opened.splice(0).reverse()) await one.close();
    },
  };
}
