import type {
  ChangeToolServerBody,
  CreateToolServerBody,
  ServerToolRecord,
  ToolServerAuthorization,
  ToolServerRecord,
} from "@gantry/wire";
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
  /** Registers a server and tests the connection: see `status`. Credentials are never returned. */
  create(server: CreateToolServerBody, options?: CallOptions): Promise<ToolServerRecord>;
  get(id: string, options?: CallOptions): Promise<ToolServerRecord>;
  /** One page, newest first. */
  list(options?: ListRange & CallOptions): Promise<ToolServerList>;
  /** Iterates over all entries, newest first, page by page. */
  each(options?: CallOptions): AsyncGenerator<ToolServerRecord>;
  /** Send only the fields to change; `auth: null` removes the credentials. */
  update(id: string, change: ChangeToolServerBody, options?: CallOptions): Promise<ToolServerRecord>;
  /** If agents use the server, throws `conflict` with the agents in `details`, unless `force` is set. */
  delete(id: string, options?: { force?: boolean | undefined } & CallOptions): Promise<void>;
  /** For servers with OAuth: a link that you open in a browser. It works once, for ten minutes. */
  authorize(id: string, options?: CallOptions): Promise<ToolServerAuthorization>;
  /** Deletes your tokens of the server. Authorizations of other users stay. */
  forgetAuthorization(id: string, options?: CallOptions): Promise<void>;
  /** Asks the server for its tools; throws `upstream_error` if it does not respond. */
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
    authorize: async (id, { signal } = {}) =>
      json({ ...at("POST /v1/mcp-servers/{mcp_server_id}/authorize", one(id)), signal }),
    async forgetAuthorization(id, { signal } = {}) {
      await send({ ...at("DELETE /v1/mcp-servers/{mcp_server_id}/authorization", one(id)), signal });
    },
    async tools(id, { signal } = {}) {
      const to = at("GET /v1/mcp-servers/{mcp_server_id}/tools", one(id));
      return (await json<{ tools: ServerToolRecord[] }>({ ...to, signal })).tools;
    },
  };
  return all;
}
