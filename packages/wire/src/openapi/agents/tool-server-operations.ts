import { deleteQuery, listQuery } from "../../agents-queries.ts";
import {
  changeToolServerBody,
  createToolServerBody,
  serverToolListRecord,
  toolServerAuthorization,
  toolServerRecord,
} from "../../tool-servers.ts";
import { groupOf } from "../operation.ts";

export const toolServerGroup = groupOf("/v1", {
  tag: "Tool servers",
  description: "MCP servers whose tools agents may call. Not for keys limited to models.",
  fails: [403],
  operations: {
    registerToolServer: {
      method: "post",
      path: "/mcp-servers",
      summary: "Register a tool server",
      description:
        "Gantry tests the connection. A server that does not respond is registered too: see `status` and `last_error`. With `auth: {type: oauth}` open the `authorization_url` of the answer to authorize.",
      body: createToolServerBody,
      example: {
        name: "weather",
        url: "https://tools.example.com/mcp",
        connection_type: "streamable_http",
        auth: { type: "bearer", token: "token-of-the-server" },
      },
      answer: toolServerRecord,
      status: 201,
      fails: [409],
    },
    listToolServers: {
      method: "get",
      path: "/mcp-servers",
      summary: "List your tool servers",
      answer: toolServerRecord,
      list: "mcp_servers",
      query: listQuery,
    },
    readToolServer: {
      method: "get",
      path: "/mcp-servers/{mcp_server_id}",
      summary: "Read a tool server",
      answer: toolServerRecord,
    },
    changeToolServer: {
      method: "patch",
      path: "/mcp-servers/{mcp_server_id}",
      summary: "Change a tool server",
      description:
        "Send only the fields to change; `auth: null` removes the credentials. Another `url` or `auth` removes all authorizations of an OAuth server.",
      body: changeToolServerBody,
      example: { url: "https://tools.example.com/v2/mcp" },
      answer: toolServerRecord,
      fails: [409],
    },
    removeToolServer: {
      method: "delete",
      path: "/mcp-servers/{mcp_server_id}",
      summary: "Remove a tool server",
      description: "If agents use the server, the request is refused and `details` lists them, unless `force` is true.",
      status: 204,
      query: deleteQuery,
      fails: [409],
    },
    authorizeToolServer: {
      method: "post",
      path: "/mcp-servers/{mcp_server_id}/authorize",
      summary: "Authorize a tool server",
      description:
        "For servers with `auth: {type: oauth}`. Answers a link for your browser: sign in there and consent. Callers of your agents get links of their own from `GET /v1/agents/{agent_id}/authorizations`.",
      answer: toolServerAuthorization,
      fails: [409, 502],
    },
    forgetToolServerAuthorization: {
      method: "delete",
      path: "/mcp-servers/{mcp_server_id}/authorization",
      summary: "Forget your authorization",
      description:
        "Deletes your tokens of this server and revokes them at the authorization server, if it offers that.",
      status: 204,
    },
    listServerTools: {
      method: "get",
      path: "/mcp-servers/{mcp_server_id}/tools",
      summary: "List the tools of a server",
      description: "Asks the server; its failure is a 502.",
      answer: serverToolListRecord,
      fails: [502],
    },
  },
});
