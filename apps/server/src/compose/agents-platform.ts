import type { BlobStore } from "../engines/blobs/blobs.ts";
import { createCron } from "../engines/cron/croner-cron.ts";
import type { Database } from "../engines/database/database.ts";
import { createDocuments } from "../engines/documents/create-documents.ts";
import type { Net } from "../engines/net/net.ts";
import type { Queue } from "../engines/queue/queue.ts";
import { createQuickjsSandbox } from "../engines/sandbox/quickjs-sandbox.ts";
import { createSchemas } from "../engines/schemas/ajv-schemas.ts";
import type { Telemetry } from "../engines/telemetry/telemetry.ts";
import { createTemplates } from "../engines/templates/handlebars-templates.ts";
import { createOAuth } from "../engines/tools/oauth/create-oauth.ts";
import type { ToolServerClients } from "../engines/tools/tools.ts";
import type { Vault } from "../engines/vault/vault.ts";
import { createThreadVectors } from "../engines/vectors/thread-vectors.ts";
import type { Accounts } from "../features/accounts/index.ts";
import { type Agents, openAgents } from "../features/agents/index.ts";
import { type IdpConnector, openIdpConnector } from "../features/connectors/idp/index.ts";
import { type Drives, openDrives, startDriveUpkeep } from "../features/drives/index.ts";
import type { ExportPart } from "../features/exports/index.ts";
import { openKnowledge } from "../features/knowledge/index.ts";
import { createDriveSearch } from "../features/knowledge/search/index.ts";
import { type Marketplace, openMarketplace } from "../features/marketplace/index.ts";
import type { Models } from "../features/models/index.ts";
import type { Nodes } from "../features/nodes/index.ts";
import type { Predictions, ReadModelInput } from "../features/predictions/index.ts";
import { createRunTools, openRuns, openThreads, type Runs } from "../features/runs/index.ts";
import { openSchedules, startScheduler } from "../features/schedules/index.ts";
import type { Secrets } from "../features/secrets/index.ts";
import { openToolServers, type ToolServers } from "../features/tool-servers/index.ts";
import { openTriggers, type Triggers } from "../features/triggers/index.ts";
import { agentAuthorizationRoutes } from "../http/agents-api/agent-authorization-routes.ts";
import { agentRoutes, marketplaceRoutes, openApiRoute, toolRoutes } from "../http/agents-api/agent-routes.ts";
import type { AgentsRoutes } from "../http/agents-api/agents-api.ts";
import { driveRoutes } from "../http/agents-api/drive-routes.ts";
import { driveSearchRoutes } from "../http/agents-api/drive-search-routes.ts";
import { idpRoutes } from "../http/agents-api/idp-routes.ts";
import { runRoutes } from "../http/agents-api/run-routes.ts";
import { scheduleRoutes } from "../http/agents-api/schedule-routes.ts";
import { threadRoutes } from "../http/agents-api/thread-routes.ts";
import { toolServerRoutes } from "../http/agents-api/tool-server-routes.ts";
import { triggerRoutes } from "../http/agents-api/trigger-routes.ts";
import { agentParts } from "../http/exports/agent-parts.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";

export interface AgentsPlatform {
  routes: readonly AgentsRoutes[];
  agents: Agents;
  marketplace: Marketplace;
  idp: IdpConnector;
  drives: Drives;
  toolServers: ToolServers;
  runs: Runs;
  /** Starts no more work. Runs end at their next step, within the time. */
  drain(milliseconds: number): Promise<void>;
  /** Ends all work. */
  stop(): Promise<void>;
  triggers: Triggers;
  /** What the platform has of a user. */
  exportParts: readonly ExportPart[];
  close(): Promise<void>;
}

/** Files that a worker indexes at once. */
const filesAtOnce = 4;

export async function openAgentsPlatform(deps: {
  database: Database;
  blobs: BlobStore;
  vault: Vault;
  secrets: Secrets;
  net: Net;
  clock: Clock;
  log: Log;
  onTrouble(text: string, error: Error): void;
  telemetry: Telemetry;
  models: Models;
  queue: Queue;
  nodeId: string;
  nodes: Nodes;
  accounts: Accounts;
  predictions: Predictions;
  countTokens(text: string): Promise<number>;
  readInput: ReadModelInput;
  storageBytesPerUser: number;
  /** Runs at once on this node; 0 if it is not a worker. */
  parallel: number;
  /** Of this server. They share its memory. */
  processes: number;
  version: string;
  /** Days to keep a thread after its last run. */
  threadDays: number;
  /** The operator's SearXNG server, which may be private. */
  search: { net: Net; searxngUrl: string | undefined };
}): Promise<AgentsPlatform> {
  const { database, clock, models, onTrouble } = deps;
  const templates = createTemplates();
  const schemas = createSchemas({ onTrouble });
  const clients = openClientsWhenUsed(deps.net, deps.version);
  const idp = openIdpConnector(deps);

  // Agents refer to drives and tool servers, which in turn ask which agents use them.
  const drivesDeps = {
    ...deps,
    agentsUsingDrive: (ownerId: string, driveId: string) => agents.agentsUsing(ownerId, { driveId }),
  };
  const drives = openDrives(drivesDeps);
  const toolServers = openToolServers({
    ...deps,
    clients,
    oauth: createOAuth(deps.net),
    agentsUsingToolServer: (ownerId, toolServerId) => agents.agentsUsing(ownerId, { toolServerId }),
  });
  const agents: Agents = openAgents({
    database,
    clock,
    templates,
    schemas,
    models,
    connectorTools: idp.describeTools(),
    drivesAmong: drives.drivesAmong,
    secretsAmong: deps.secrets.among,
    toolServersAmong: toolServers.serversAmong,
    connectorProblem: idp.trouble,
    isSearxngSet: deps.search.searxngUrl !== undefined,
  });
  const upkeep = startDriveUpkeep(drivesDeps);
  const sandbox = createQuickjsSandbox({ onTrouble });
  const vectors = createThreadVectors({ onTrouble, processes: deps.processes });
  const documents = createDocuments({ onTrouble });
  const knowledge = await openKnowledge({ ...deps, documents, parallel: deps.parallel > 0 ? filesAtOnce : 0 });
  const driveSearch = createDriveSearch({ ...knowledge, database, vectors });
  const tools = createRunTools({
    ...deps,
    table: agents.tools,
    sandbox,
    documents,
    drives,
    driveSearch,
    toolServers,
    idp,
  });
  const runs = await openRuns({ ...deps, templates, schemas, agents, ...tools });

  const cron = createCron();
  const schedules = openSchedules({ database, cron, runs, agents });
  const scheduler = deps.parallel > 0 ? startScheduler({ ...deps, cron, runs }) : undefined;

  const triggers = openTriggers({ ...deps, templates, agents, runs });
  const marketplace = openMarketplace({ database });
  const threads = openThreads({ database, threadDays: deps.threadDays });

  return {
    routes: [
      agentRoutes(agents, marketplace),
      marketplaceRoutes(marketplace, agents),
      toolRoutes(agents.tools),
      driveRoutes(drives, knowledge),
      driveSearchRoutes(driveSearch),
      toolServerRoutes(toolServers),
      agentAuthorizationRoutes(agents, toolServers),
      idpRoutes(idp),
      runRoutes(runs),
      threadRoutes(threads),
      scheduleRoutes(schedules, runs),
      triggerRoutes(triggers),
      openApiRoute(deps.version),
    ],
    agents,
    marketplace,
    idp,
    drives,
    toolServers,
    runs,
    async drain(milliseconds) {
      // Runs first: at the limit they must end their model calls before `predictions.drain` does.
      await Promise.all([runs.drain(milliseconds), scheduler?.stop(), knowledge.stop()]);
    },
    async stop() {
      await Promise.all([scheduler?.stop(), knowledge.stop()]);
      await runs.close();
    },
    triggers,
    exportParts: agentParts({
      agents,
      marketplace,
      threads,
      schedules,
      triggers,
      toolServers,
      idp,
      drives,
      knowledge,
    }),
    async close() {
      await upkeep.stop();
      await Promise.all([clients, schemas, sandbox, vectors, documents].map((engine) => engine.close()));
    },
  };
}

/** Loads the large MCP library on first use, to keep the start fast. */
function openClientsWhenUsed(net: Net, version: string): ToolServerClients {
  let opened: Promise<ToolServerClients> | undefined;
  const open = () => {
    opened ??= import("../engines/tools/mcp-tools.ts").then(({ createMcpTools }) => createMcpTools({ net, version }));
    return opened;
  };
  return {
    listTools: async (target, options) => (await open()).listTools(target, options),
    callTool: async (target, call) => (await open()).callTool(target, call),
    forget: (serverId) => void opened?.then((clients) => clients.forget(serverId)),
    close: async () => (await opened)?.close(),
  };
}
