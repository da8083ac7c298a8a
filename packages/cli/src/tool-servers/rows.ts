import { type Argument, type Command, jsonOption, listOptions, serverOptions } from "../frame/command.ts";
import { yesOption } from "../shared/options.ts";

const group = "agents";
const usual = { ...jsonOption, ...serverOptions };
const server: Argument = { name: "SERVER", meaning: "Id or name of the tool server." };

export const toolServerCommands: readonly Command[] = [
  {
    name: "tool-servers list",
    group,
    summary: "List your tool servers (MCP).",
    options: { ...listOptions, ...usual },
    examples: [{ line: "tool-servers list", meaning: "Their addresses and whether they respond" }],
    load: async () => (await import("./tool-servers.ts")).listServers,
  },
  {
    name: "tool-servers connect",
    group,
    summary: "Connect a tool server (MCP), whose tools your agents can use.",
    details: "The connection is tested. No option takes a credential, because other users of the machine could see it.",
    arguments: [
      { name: "NAME", meaning: "Name of the server, which begins the names of its tools." },
      { name: "ADDRESS", meaning: "URL of the server." },
    ],
    options: {
      sse: { type: "flag", meaning: "The server uses the older SSE connection." },
      auth: { type: "text", meaning: "How to authenticate.", choices: ["bearer", "api_key", "oauth"] },
      "token-env": { type: "text", value: "VARIABLE", meaning: "Variable with the token or the API key." },
      "token-stdin": { type: "flag", meaning: "Read the token or the API key from stdin." },
      header: { type: "text", value: "HEADER", meaning: "Header of the API key; X-API-Key by default." },
      ...usual,
    },
    examples: [
      { line: "tool-servers connect crm https://crm.example.com/mcp", meaning: "Without a credential" },
      {
        line: "tool-servers connect crm https://crm.example.com/mcp --auth bearer --token-env CRM_TOKEN",
        meaning: "With a token",
      },
    ],
    load: async () => (await import("./tool-servers.ts")).connectServer,
  },
  {
    name: "tool-servers authorize",
    group,
    summary: "Print a link that authorizes Gantry at a tool server with OAuth.",
    arguments: [server],
    options: usual,
    examples: [{ line: "tool-servers authorize crm", meaning: "Open the link in a browser within ten minutes" }],
    load: async () => (await import("./tool-servers.ts")).authorizeServer,
  },
  {
    name: "tool-servers tools",
    group,
    summary: "List the tools of a tool server.",
    arguments: [server],
    options: usual,
    examples: [{ line: "tool-servers tools crm", meaning: "Names and descriptions" }],
    load: async () => (await import("./tool-servers.ts")).listTools,
  },
  {
    name: "tool-servers delete",
    group,
    summary: "Delete a tool server.",
    arguments: [server],
    options: {
      ...yesOption,
      force: { type: "flag", meaning: "Also if agents use the server." },
      ...usual,
    },
    examples: [{ line: "tool-servers delete crm --yes", meaning: "Delete without a question" }],
    load: async () => (await import("./tool-servers.ts")).deleteServer,
  },
];
