import * as agents from "../../agents.ts";
import * as drives from "../../drives.ts";
import * as idp from "../../idp.ts";
import { runEventEntries, runEventEntry, runEventList } from "../../run-events.ts";
import * as runs from "../../runs.ts";
import * as servers from "../../tool-servers.ts";
import { documentOf } from "../document.ts";
import type { Api } from "../operation.ts";
import { agentGroup, marketplaceGroup } from "./agent-operations.ts";
import { agentsFailureSchemas, agentsFailures } from "./agents-failures.ts";
import { connectorGroup } from "./connector-operations.ts";
import { driveGroup } from "./drive-operations.ts";
import { runGroup } from "./run-operations.ts";
import { toolServerGroup } from "./tool-server-operations.ts";

/** Used in both requests and answers. */
const parts = {
  AgentBinding: agents.agentBinding,
  ToolBinding: agents.toolBinding,
  AgentTool: agents.agentTool,
  AgentInstructions: agents.agentInstructions,
  ToolServerBinding: agents.toolServerBinding,
  AgentPricing: agents.agentPricing,
};

export const agentsApi: Api = {
  title: "Gantry agents platform",
  description: "Agents, runs, drives, tool servers and the identity connector. This API is a preview and may change.",
  base: "/v1",
  stability: "preview",
  groups: [agentGroup, runGroup, marketplaceGroup, toolServerGroup, driveGroup, connectorGroup],
  requests: {
    ...parts,
    CreateAgent: agents.createAgentBody,
    ChangeAgent: agents.changeAgentBody,
    PublishAgent: agents.publishAgentBody,
    CreateRun: runs.createRunBody,
    AnswerConfirmation: runs.answerConfirmationBody,
    CreateToolServer: servers.createToolServerBody,
    ChangeToolServer: servers.changeToolServerBody,
    ToolServerAuth: servers.toolServerAuth,
    BearerAuth: servers.bearerAuth,
    ApiKeyAuth: servers.apiKeyAuth,
    CreateDrive: drives.createDriveBody,
    PutIdpConnector: idp.putIdpConnectorBody,
    RunIdpAction: idp.runIdpActionBody,
  },
  answers: {
    ...parts,
    Agent: agents.agentRecord,
    AgentCreated: agents.agentCreatedRecord,
    AgentCard: agents.agentCard,
    ReadableAgent: agents.readableAgent,
    AgentWarning: agents.agentWarning,
    Revision: agents.revisionRecord,
    RevisionEntry: agents.revisionEntry,
    RevisionDiff: agents.revisionDiff,
    ListChange: agents.listChange,
    ValueChange: agents.valueChange,
    Tool: agents.toolRecord,
    Run: runs.runRecord,
    RunError: runs.runError,
    RunUsage: runs.runUsage,
    RunSecret: runs.runSecretRecord,
    Confirmation: runs.confirmationRecord,
    RunEvent: runEventEntry,
    RunEventList: runEventList,
    ...Object.fromEntries(Object.entries(runEventEntries).map(([type, entry]) => [nameOfEvent(type), entry])),
    ToolServer: servers.toolServerRecord,
    ServerTool: servers.serverToolRecord,
    ServerToolList: servers.serverToolListRecord,
    Drive: drives.driveRecord,
    DriveFile: drives.driveFileRecord,
    DriveItem: drives.driveItem,
    DriveFileItem: drives.driveFileItem,
    DriveDirectoryItem: drives.driveDirectoryItem,
    DriveItemList: drives.driveItemList,
    IdpConnector: idp.idpConnectorRecord,
    IdpAction: idp.idpActionRecord,
    IdpOutcome: idp.idpOutcomeRecord,
  },
  pathParameters: {
    agent_id: "`agt_…`",
    revision_id: "`rev_…`",
    run_id: "`run_…`",
    confirmation_id: "`conf_…`",
    secret_id: "`sec_…`, from the tool's result.",
    mcp_server_id: "`mcp_…`",
    drive_id: "`drv_…`",
    creator_username: "The agent's owner.",
    agent_slug: "The agent's `slug`.",
    path: "The path in the drive; `/` need not be encoded.",
    name: "The name of the action.",
  },
  failures: agentsFailures,
  failureSchemas: agentsFailureSchemas,
  invalid: 400,
  page: {
    total: { type: "integer", description: "Entries on all pages." },
    limit: { type: "integer" },
    offset: { type: "integer" },
  },
};

/** `tool_call`: ToolCallEvent. */
function nameOfEvent(type: string): string {
  return `${type.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;
}

export const agentsDocument = documentOf(agentsApi);
