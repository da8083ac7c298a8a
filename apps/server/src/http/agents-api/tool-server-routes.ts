import type { ServerToolListRecord, ToolServerRecord } from "@gantry/wire";
import { agentsOperations } from "@gantry/wire/operations";
import type { ToolList, ToolServer, ToolServers } from "../../features/tool-servers/index.ts";
import { clientPresence } from "../foundation/client-presence.ts";
import { route } from "../foundation/route.ts";
import type { AgentsRoutes } from "./agents-api.ts";

const operations = agentsOperations;

/** Registrations of MCP servers, and the tools that a server offers. */
export function toolServerRoutes(toolServers: ToolServers): AgentsRoutes {
  return (app) => {
    route(app, operations.registerToolServer, async ({ caller, body }) =>
      serverRecord(await toolServers.register(caller.userId, body)),
    );

    route(app, operations.listToolServers, async ({ caller, query }) => {
      const { servers, total } = await toolServers.list(caller.userId, query);
      return { mcp_servers: servers.map(serverRecord), total, ...query };
    });

    route(app, operations.readToolServer, async ({ caller, params }) =>
      serverRecord(await toolServers.read(caller.userId, params.mcp_server_id)),
    );

    route(app, operations.changeToolServer, async ({ caller, params, body }) =>
      serverRecord(await toolServers.change(caller.userId, params.mcp_server_id, body)),
    );

    route(app, operations.removeToolServer, async ({ caller, params, query }) => {
      await toolServers.remove(caller.userId, params.mcp_server_id, { force: query.force === "true" });
    });

    route(app, operations.listServerTools, async ({ caller, params, reply }) => {
      const signal = clientPresence(reply);
      try {
        return toolListRecord(await toolServers.listTools(caller.userId, params.mcp_server_id, signal));
      } catch (error) {
        if (signal.aborted) return reply.code(499).send();
        throw error;
      }
    });
  };
}

function toolListRecord({ tools, unusable, isCut }: ToolList): ServerToolListRecord {
  return {
    tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
    unusable,
    is_cut: isCut,
  };
}

function serverRecord(server: ToolServer): ToolServerRecord {
  return {
    id: server.id,
    name: server.name,
    url: server.url,
    connection_type: server.connectionType,
    auth: authRecord(server),
    status: server.status,
    last_error: server.lastError,
    created_at: server.createdAt.toISOString(),
    updated_at: server.updatedAt.toISOString(),
  };
}

function authRecord({ authType, authHeader }: ToolServer): ToolServerRecord["auth"] {
  if (authType === null) return null;
  return authHeader === null ? { type: "bearer" } : { type: "api_key", header: authHeader };
}
