import type { ServerToolListRecord, ToolServerRecord } from "@gantry/wire";
import { agentsOperations } from "@gantry/wire/operations";
import { type Caller, mayAuthorize } from "../../features/accounts/index.ts";
import type { ToolList, ToolServer, ToolServers } from "../../features/tool-servers/index.ts";
import { clientPresence } from "../foundation/client-presence.ts";
import { route } from "../foundation/route.ts";
import type { AgentsRoutes } from "./agents-api.ts";

const operations = agentsOperations;

/** Registrations of MCP servers, and the tools that a server offers. */
export function toolServerRoutes(toolServers: ToolServers): AgentsRoutes {
  async function recordWithLink(
    server: ToolServer,
    caller: Caller,
    options: { baseUrl: string; isOffline: boolean },
  ): Promise<ToolServerRecord> {
    if (!mayAuthorize(caller)) return toolServerRecord(server);
    const shown = await toolServers.withLink(server, options);
    return { ...toolServerRecord(shown.server), ...(shown.url !== undefined && { authorization_url: shown.url }) };
  }

  return (app) => {
    route(app, operations.registerToolServer, async ({ caller, body, request }) => {
      const created = await toolServers.register(caller.userId, body);
      return recordWithLink(created, caller, { baseUrl: request.baseUrl, isOffline: false });
    });

    route(app, operations.listToolServers, async ({ caller, query, request: { baseUrl } }) => {
      const { servers, total } = await toolServers.list(caller.userId, query);
      const records = servers.map((server) => recordWithLink(server, caller, { baseUrl, isOffline: true }));
      return { mcp_servers: await Promise.all(records), total, ...query };
    });

    route(app, operations.readToolServer, async ({ caller, params, request: { baseUrl } }) => {
      const server = await toolServers.read(caller.userId, params.mcp_server_id);
      return recordWithLink(server, caller, { baseUrl, isOffline: true });
    });

    route(app, operations.changeToolServer, async ({ caller, params, body, request: { baseUrl } }) => {
      const changed = await toolServers.change(caller.userId, params.mcp_server_id, body);
      return recordWithLink(changed, caller, { baseUrl, isOffline: false });
    });

    route(app, operations.removeToolServer, async ({ caller, params, query }) => {
      await toolServers.remove(caller.userId, params.mcp_server_id, { force: query.force === "true" });
    });

    route(app, operations.authorizeToolServer, async ({ caller, params, request }) => {
      const { url, expiresAt } = await toolServers.authorize(caller.userId, params.mcp_server_id, request.baseUrl);
      return { authorization_url: url, expires_at: expiresAt.toISOString() };
    });

    route(app, operations.forgetToolServerAuthorization, async ({ caller, params }) => {
      await toolServers.forgetAuthorization(caller.userId, params.mcp_server_id);
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

export function toolServerRecord(server: ToolServer): ToolServerRecord {
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

function authRecord({ authType, authHeader, oauth }: ToolServer): ToolServerRecord["auth"] {
  if (authType === null) return null;
  if (authType === "oauth") {
    const { clientId, scope } = oauth ?? { clientId: null, scope: null };
    return { type: "oauth", ...(clientId !== null && { client_id: clientId }), ...(scope !== null && { scope }) };
  }
  return authHeader === null ? { type: "bearer" } : { type: "api_key", header: authHeader };
}
