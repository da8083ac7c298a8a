import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from "fastify";
import type { Database } from "../../src/engines/database/index.ts";
import { textModels } from "../../src/engines/models/builtin/text-manifests.ts";
import { createSchemas } from "../../src/engines/schemas/ajv-schemas.ts";
import { createTemplates } from "../../src/engines/templates/handlebars-templates.ts";
import { type Accounts, openAccounts } from "../../src/features/accounts/index.ts";
import { type Agents, openAgents, type ToolInfo } from "../../src/features/agents/index.ts";
import { openMarketplace } from "../../src/features/marketplace/index.ts";
import { type Models, openModels, seedModels } from "../../src/features/models/index.ts";
import { agentRoutes, marketplaceRoutes, toolRoutes } from "../../src/http/agents-api/agent-routes.ts";
import { agentsApi } from "../../src/http/agents-api/agents-api.ts";
import { createServer } from "../../src/http/foundation/server.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { createLog } from "../../src/kernel/log.ts";
import { testDatabase } from "./database.ts";

interface Answer {
  status: number;
  headers: LightMyRequestResponse["headers"];
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
  body: any;
}

export interface AgentsUnderTest {
  app: FastifyInstance;
  database: Database;
  accounts: Accounts;
  models: Models;
  agents: Agents;
  /** `who` is a username from `newUser`, or a key. */
  call(method: NonNullable<InjectOptions["method"]>, path: string, who?: string, body?: unknown): Promise<Answer>;
  /** Number of drive look-ups. */
  driveLookups(): number;
  /** Number of checks of schemas and of values. */
  schemaTrials(): number;
  /** Creates a small agent with these fields; returns its id. */
  makeAgent(who: string, fields?: object): Promise<string>;
  newUser(username: string, reach?: readonly string[] | null): Promise<string>;
  userId(username: string): Promise<string>;
  close(): Promise<void>;
}

/** Drives and tool servers that exist, by owner. */
export interface OwnedThings {
  drives: Readonly<Record<string, readonly string[]>>;
  toolServers: Readonly<Record<string, readonly string[]>>;
}

/** An agent with every field, for a user with these drives and tool servers. */
export const wholeAgent = {
  name: "Weather Reporter",
  goal: "Tell the weather of {{city}}{{#each days}}, {{this}}{{/each}}.",
  tools: ["http_request", { type: "tool", id: "run_javascript", confirm: "always" }],
  model: "gantry/text",
  input_schema: {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "array", items: { type: "string" } } },
    required: ["city"],
  },
  output_schema: { type: "object", properties: { report: { type: "string" } } },
  instructions: { planning: "Plan.", tool_calling: "Call.", formatting: "Format." },
  drives: ["drv_ann"],
  mcp_servers: [{ id: "mcp_ann", tools: ["a"] }],
  pricing: { per_run: 0.25 },
  context_compression: false,
};

export const textManifest = {
  title: "Text",
  kind: "text",
  visibility: "public",
  input: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
  output: { type: "object", properties: { output: { type: "string", isStream: true } } },
  backend: { type: "openai-chat", url: "https://up.example/v1", model: "x" },
};

const writeTool: ToolInfo = {
  id: "idp_user_delete",
  description: "Deletes a user.",
  kind: "write",
  parameters: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
};
const readTool: ToolInfo = { ...writeTool, id: "idp_user_get", description: "Reads a user.", kind: "read" };

/** The agents API on a real database and the built-in text models. */
export async function agentsUnderTest(owned: OwnedThings = { drives: {}, toolServers: {} }): Promise<AgentsUnderTest> {
  const { database, drop } = await testDatabase();
  const log = createLog("silent");
  const accounts = await openAccounts({ database, clock: systemClock, log });
  await accounts.bootstrap("an-operator-key-of-more-than-32-characters");
  await seedModels(database, textModels({}));
  const models = await openModels({ database, log, builtins: ["image", "rules"] });
  const schemas = createSchemas();
  const ids = new Map<string, string>();
  const keys = new Map<string, string>();
  const has = (table: OwnedThings["drives"], ownerId: string, id: string) =>
    [...ids].some(([username, userId]) => userId === ownerId && table[username]?.includes(id));
  let driveLookups = 0;
  let schemaTrials = 0;
  const agents = openAgents({
    database,
    clock: systemClock,
    templates: createTemplates(),
    schemas: {
      ...schemas,
      check: (...given) => {
        schemaTrials++;
        return schemas.check(...given);
      },
      validate: (...given) => {
        schemaTrials++;
        return schemas.validate(...given);
      },
    },
    models,
    connectorTools: [writeTool, readTool],
    drivesAmong: async (ownerId, given) => {
      driveLookups++;
      return new Set(given.filter((id) => has(owned.drives, ownerId, id)));
    },
    secretsAmong: async () => new Set(),
    toolServersAmong: async (ownerId, given) =>
      new Map(
        given
          .filter((id) => has(owned.toolServers, ownerId, id))
          .map((id) => [id, { name: id, knownTools: undefined }]),
      ),
    connectorProblem: async () => undefined,
  });
  const marketplace = openMarketplace({ database });
  const app = createServer({ log, publicUrl: undefined, authenticate: accounts.authenticate });
  await app.register(agentsApi, {
    log,
    routes: [agentRoutes(agents, marketplace), marketplaceRoutes(marketplace, agents), toolRoutes(agents.tools)],
  });

  const call: AgentsUnderTest["call"] = async (method, path, who, body) => {
    const response = await app.inject({
      method,
      url: path,
      headers: who === undefined ? {} : { "x-api-key": keys.get(who) ?? who },
      ...(body !== undefined && { payload: body as object }),
    });
    const isJson = String(response.headers["content-type"]).includes("json");
    return {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
      body: isJson ? response.json() : undefined,
    };
  };

  return {
    driveLookups: () => driveLookups,
    schemaTrials: () => schemaTrials,
    app,
    database,
    accounts,
    models,
    agents,
    call,
    async makeAgent(who, fields = {}) {
      const made = await call("POST", "/v1/agents", who, { name: "Agent", goal: "Do it.", tools: [], ...fields });
      if (made.status !== 201) throw new Error(made.text);
      return made.body.id;
    },
    async newUser(username, reach = null) {
      const { id } = ids.has(username) ? { id: ids.get(username) ?? "" } : await accounts.createUser({ username });
      ids.set(username, id);
      const wanted = { name: "", expiresAt: null, monthlyLimitMicros: null, models: reach && [...reach] };
      const { key } = await accounts.createKeyFor(username, wanted);
      if (!keys.has(username)) keys.set(username, key);
      return key;
    },
    async userId(username) {
      const id = ids.get(username);
      if (id === undefined) throw new Error(`no user ${username}`);
      return id;
    },
    async close() {
      const closed = app.close();
      // Node does not count connections as idle that a client opened and never used.
      app.server.closeAllConnections();
      await closed;
      await Promise.all([schemas.close(), models.close(), accounts.close()]);
      await drop();
    },
  };
}
