import {
  changeToolServerBody,
  createToolServerBody,
  deleteQuery,
  listQuery,
  type ServerToolListRecord,
  type ToolServerRecord,
} from "@gantry/wire";
import type { FastifyRequest } from "fastify";
import type { ToolList, ToolServer, ToolServers } from "../../features/tool-servers/index.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { clientPresence } from "../model-api/client-presence.ts";
import type { AgentsRoutes } from "./agents-api.ts";

interface OfServer {
  Params: { serverId: string };
}

/** Registrations of MCP servers, and the tools that one offers. */
export function toolServerRoutes(toolServers: ToolServers): AgentsRoutes {
  return (app, callerOf) => {
    const ownerOf = async (request: FastifyRequest): Promise<string> => (await callerOf(request)).userId;

    app.post("/mcp-servers", async (request, reply) => {
      const ownerId = await ownerOf(request);
      const made = await toolServers.register(ownerId, parseOrThrow(createToolServerBody, request.body, ["body"]));
      return reply.code(201).send(serverRecord(made));
    });

    app.get("/mcp-servers", async (request) => {
      const ownerId = await ownerOf(request);
      const range = parseOrThrow(listQuery, request.query, ["query"]);
      const { servers, total } = await toolServers.list(ownerId, range);
      return { mcp_servers: servers.map(serverRecord), total, ...range };
    });

    app.get<OfServer>("/mcp-servers/:serverId", async (request) =>
      serverRecord(await toolServers.read(await ownerOf(request), request.params.serverId)),
    );

    app.patch<OfServer>("/mcp-servers/:serverId", async (request) => {
      const ownerId = await ownerOf(request);
      const change = parseOrThrow(changeToolServerBody, request.body, ["body"]);
      return serverRecord(await toolServers.change(ownerId, request.params.serverId, change));
    });

    app.delete<OfServer>("/mcp-servers/:serverId", async (request, reply) => {
      const ownerId = await ownerOf(request);
      const { force } = parseOrThrow(deleteQuery, request.query, ["query"]);
      await toolServers.remove(ownerId, request.params.serverId, { force: force === "true" });
      return reply.code(204).send();
    });

    app.get<OfServer>("/mcp-servers/:serverId/tools", async (request, reply) => {
      const ownerId = await ownerOf(request);
      const signal = clientPresence(reply);
      try {
        return toolListRecord(await toolServers.listTools(ownerId, request.params.serverId, signal));
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
