import { agentMemory } from "../../agent-memory.ts";
import * as agents from "../../agents.ts";
import * as drives from "../../drives.ts";
import * as idp from "../../idp.ts";
import { runEventEntries, runEventEntry, runEventList } from "../../run-events.ts";
import { agentWebhook, runWebhook } from "../../run-webhooks.ts";
import * as runs from "../../runs.ts";
import * as schedules from "../../schedules.ts";
import * as threads from "../../threads.ts";
import * as servers from "../../tool-servers.ts";
import * as tools from "../../tools.ts";
import * as traces from "../../traces.ts";
import * as triggers from "../../triggers.ts";
import { documentOf } from "../document.ts";
import type { Api } from "../operation.ts";
import { agentGroup, marketplaceGroup } from "./agent-operations.ts";
import { agentsFailureSchemas, agentsFailures } from "./agents-failures.ts";
import { connectorGroup } from "./connector-operations.ts";
import { driveGroup } from "./drive-operations.ts";
import { runGroup } from "./run-operations.ts";
import { scheduleGroup } from "./schedule-operations.ts";
import { threadGroup } from "./thread-operations.ts";
import { toolServerGroup } from "./tool-server-operations.ts";
import { triggerGroup } from "./trigger-operations.ts";

/** Used in both requests and answers. */
const parts = {
  AgentBinding: tools.agentBinding,
  ToolBinding: tools.toolBinding,
  AgentTool: tools.agentTool,
  AgentInstructions: agents.agentInstructions,
  AgentMemory: agentMemory,
  ToolServerBinding: agents.toolServerBinding,
  AgentPricing: agents.agentPricing,
  AgentWebhook: agentWebhook,
};

export const agentsApi: Api = {
  title: "Gantry agents platform",
  description:
    "Agents, runs, threads, schedules, triggers, drives, tool servers and the identity connector. This API is a preview and may change.",
  base: "/v1",
  stability: "preview",
  groups: [
    agentGroup,
    runGroup,
    threadGroup,
    scheduleGroup,
    triggerGroup,
    marketplaceGroup,
    toolServerGroup,
    driveGroup,
    connectorGroup,
  ],
  requests: {
    ...parts,
    CreateAgent: agents.createAgentBody,
    ChangeAgent: agents.changeAgentBody,
    PublishAgent: agents.publishAgentBody,
    CreateRun: runs.createRunBody,
    RunWebhook: runWebhook,
    AnswerConfirmation: runs.answerConfirmationBody,
    CreateSchedule: schedules.createScheduleBody,
    ChangeSchedule: schedules.changeScheduleBody,
    CreateTrigger: triggers.createTriggerBody,
    ChangeTrigger: triggers.changeTriggerBody,
    TriggerVerification: triggers.triggerVerification,
    StandardWebhooksVerification: triggers.standardWebhooksVerification,
    GithubVerification: triggers.githubVerification,
    StripeVerification: triggers.stripeVerification,
    HmacVerification: triggers.hmacVerification,
    CreateToolServer: servers.createToolServerBody,
    ChangeToolServer: servers.changeToolServerBody,
    ToolServerAuth: servers.toolServerAuth,
    BearerAuth: servers.bearerAuth,
    ApiKeyAuth: servers.apiKeyAuth,
    OAuthAuth: servers.oauthAuth,
    CreateDrive: drives.createDriveBody,
    ChangeDrive: drives.changeDriveBody,
    DriveIndexSettings: drives.driveIndexBody,
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
    Tool: tools.toolRecord,
    Run: runs.runRecord,
    RunError: runs.runError,
    RunUsage: runs.runUsage,
    RunSecret: runs.runSecretRecord,
    Confirmation: runs.confirmationRecord,
    InboxConfirmation: runs.inboxConfirmation,
    Thread: threads.threadRecord,
    ThreadDetails: threads.threadDetails,
    ThreadTurn: threads.threadTurn,
    RunTrace: traces.runTrace,
    TraceAgent: traces.traceAgent,
    TraceStep: traces.traceStep,
    TraceStepDetail: traces.traceStepDetail,
    TraceAnswer: traces.traceAnswer,
    TraceMessage: traces.traceMessage,
    TraceToolCall: traces.traceToolCall,
    RunEvent: runEventEntry,
    RunEventList: runEventList,
    ...Object.fromEntries(Object.entries(runEventEntries).map(([type, entry]) => [nameOfEvent(type), entry])),
    Schedule: schedules.scheduleRecord,
    Trigger: triggers.triggerRecord,
    TriggerWithUrl: triggers.triggerWithUrlRecord,
    TriggerDelivery: triggers.triggerDeliveryRecord,
    ToolServer: servers.toolServerRecord,
    ToolServerAuthorization: servers.toolServerAuthorization,
    AgentAuthorization: servers.agentAuthorization,
    AgentAuthorizationList: servers.agentAuthorizationList,
    ServerTool: servers.serverToolRecord,
    ServerToolList: servers.serverToolListRecord,
    Drive: drives.driveRecord,
    DriveIndex: drives.driveIndexRecord,
    IndexFile: drives.indexFileRecord,
    DriveSearchAnswer: drives.driveSearchAnswer,
    DriveSearchResult: drives.driveSearchResult,
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
    thread_id: "The `thread_id` that you chose, URL-encoded.",
    step_id: "The `id` of a step of the trace.",
    confirmation_id: "`conf_…`",
    schedule_id: "`sch_…`",
    secret_id: "`sec_…`, from the tool's result.",
    trigger_id: "`trg_…`",
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
