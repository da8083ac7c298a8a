import type { BlobStore } from "../engines/blobs/blobs.ts";
import type { Database } from "../engines/database/database.ts";
import type { Net } from "../engines/net/net.ts";
import type { Queue } from "../engines/queue/queue.ts";
import { createQuickjsSandbox } from "../engines/sandbox/quickjs-sandbox.ts";
import { createSchemas } from "../engines/schemas/ajv-schemas.ts";
import type { Telemetry } from "../engines/telemetry/telemetry.ts";
import { createTemplates } from "../engines/templates/handlebars-templates.ts";
import type { ToolServerClients } from "../engines/tools/tools.ts";
import type { Vault } from "../engines/vault/vault.ts";
import type { Accounts } from "../features/accounts/index.ts";
import { type Agents, openAgents } from "../features/agents/index.ts";
import { type IdpConnector, openIdpConnector } from "../features/connectors/idp/index.ts";
import { openDrives, startDriveUpkeep } from "../features/drives/index.ts";
import { type Marketplace, openMarketplace } from "../features/marketplace/index.ts";
import type { Models } from "../features/models/index.ts";
import type { Nodes } from "../features/nodes/index.ts";
import type { Predictions, ReadModelInput } from "../features/predictions/index.ts";
import { createRunTools, openRuns, type Runs } from "../features/runs/index.ts";
import type { Secrets } from "../features/secrets/index.ts";
import { openToolServers, type ToolServers } from "../features/tool-servers/index.ts";
import { agentRoutes, marketplaceRoutes, openApiRoute, toolRoutes } from "../http/agents-api/agent-routes.ts";
import type { AgentsRoutes } from "../http/agents-api/agents-api.ts";
import { driveRoutes } from "../http/agents-api/drive-routes.ts";
import { idpRoutes } from "../http/agents-api/idp-routes.ts";
import { runRoutes } from "../http/agents-api/run-routes.ts";
import { toolServerRoutes } from "../http/agents-api/tool-server-routes.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";

export interface AgentsPlatform {
  routes: readonly AgentsRoutes[];
  agents: Agents;
  marketplace: Marketplace;
  idp: IdpConnector;
  toolServers: ToolServers;
  runs: Runs;
  close(): Promise<void>;
}

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
  version: string;
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
  });
  const upkeep = startDriveUpkeep(drivesDeps);
  const sandbox = createQuickjsSandbox({ onTrouble });
  const tools = createRunTools({ ...deps, table: agents.tools, sandbox, drives, toolServers, idp });
  const runs = await openRuns({ ...deps, templates, schemas, agents, toolsFor: tools.toolsFor });

  const marketplace = openMarketplace({ database });

  return {
    routes: [
      agentRoutes(agents),
      marketplaceRoutes(marketplace, agents),
      toolRoutes(agents.tools),
      driveRoutes(drives),
      toolServerRoutes(toolServers),
      idpRoutes(idp),
      runRoutes(runs),
      openApiRoute(deps.version),
    ],
    agents,
    marketplace,
    idp,
    toolServers,
    runs,
    async close() {
      await upkeep.stop();
      await Promise.all([clients.close(), schemas.close(), sandbox.close()]);
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
