import type { ChangeToolServerBody, CreateToolServerBody, ServerToolRecord, ToolServerRecord } from "@gantry/wire";
import { at } from "./address.ts";
import { eachListed, type ListRange } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface ToolServerList {
  mcp_servers: ToolServerRecord[];
  total: number;
  limit: number;
  offset: number;
}

/** MCP servers whose tools agents may use. The agents platform is a preview. */
export interface ToolServers {
  /** Registers a server and tries to reach it: `status` tells how that went. Credentials are never returned. */
  create(server: CreateToolServerBody, options?: CallOptions): Promise<ToolServerRecord>;
  get(id: string, options?: CallOptions): Promise<ToolServerRecord>;
  /** One page, newest first. */
  list(options?: ListRange & CallOptions): Promise<ToolServerList>;
  /** All of them, newest first, read page by page as the loop goes on. */
  each(options?: CallOptions): AsyncGenerator<ToolServerRecord>;
  /** Only the fields to change; `auth: null` takes the credentials away. */
  update(id: string, change: ChangeToolServerBody, options?: CallOptions): Promise<ToolServerRecord>;
  /** One that an agent uses is a `conflict` whose `details` name the agents, unless it is forced. */
  delete(id: string, options?: { force?: boolean | undefined } & CallOptions): Promise<void>;
  /** Asks the server for its tools, now; one that does not answer is an `upstream_error`. */
  tools(id: string, options?: CallOptions): Promise<ServerToolRecord[]>;
}

export function toolServers({ json, send }: Transport): ToolServers {
  const one = (id: string) => ({ mcp_server_id: id });
  const all: ToolServers = {
    create: async (server, { signal } = {}) => json({ ...at("POST /v1/mcp-servers"), json: server, signal }),
    get: async (id, { signal } = {}) => json({ ...at("GET /v1/mcp-servers/{mcp_server_id}", one(id)), signal }),
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /v1/mcp-servers"), query, signal }),
    each: (options) =>
      eachListed(
        async (range) => {
          const { mcp_servers: entries, total } = await all.list({ ...options, ...range });
          return { entries, total };
        },
        ({ id }) => id,
      ),
    update: async (id, change, { signal } = {}) =>
      json({ ...at("PATCH /v1/mcp-servers/{mcp_server_id}", one(id)), json: change, signal }),
    async delete(id, { signal, ...query } = {}) {
      await send({ ...at("DELETE /v1/mcp-servers/{mcp_server_id}", one(id)), query, signal });
    },
    async tools(id, { signal } = {}) {
      const to = at("GET /v1/mcp-servers/{mcp_server_id}/tools", one(id));
      return (await json<{ tools: ServerToolRecord[] }>({ ...to, signal })).tools;
    },
  };
  return all;
}
