import { z } from "zod";
import {
  agentCard,
  agentCreatedRecord,
  agentRecord,
  changeAgentBody,
  createAgentBody,
  publishAgentBody,
  revisionDiff,
  revisionEntry,
  revisionRecord,
  toolRecord,
} from "./agents.ts";
import {
  agentRunsQuery,
  agentsQuery,
  deleteQuery,
  diffQuery,
  eventsQuery,
  itemsQuery,
  listQuery,
  marketplaceQuery,
  revisionsQuery,
  runQuery,
  runsQuery,
} from "./agents-queries.ts";
import { createDriveBody, driveFileRecord, driveItemList, driveRecord } from "./drives.ts";
import { idpActionRecord, idpConnectorRecord, idpOutcomeRecord, putIdpConnectorBody, runIdpActionBody } from "./idp.ts";
import { runEventList } from "./run-events.ts";
import { answerConfirmationBody, confirmationRecord, createRunBody, runRecord, runSecretRecord } from "./runs.ts";
import { changeToolServerBody, createToolServerBody, serverToolRecord, toolServerRecord } from "./tool-servers.ts";

export interface AgentsOperation {
  method: "get" | "head" | "post" | "put" | "patch" | "delete";
  /** Relative to `/v1`. */
  path: string;
  summary: string;
  /** `file`: the bytes, as they are or as the `file` of a form. `upload`: a form with the path beside it. */
  body?: z.ZodType | "file" | "upload";
  /** The answer's record; a list of them under `list`; a stream or bytes by media type. */
  answer?: z.ZodType | { media: string };
  list?: string;
  status?: 200 | 201 | 204;
  /** What the route reads its query with. A list that has a `limit` comes in pages. */
  query?: z.ZodObject;
  headers?: readonly string[];
  /** Further answers, beside those that every operation may give. */
  also?: readonly (204 | 206 | 304 | 412 | 416)[];
}

/** A write of a file can demand something of the version that it meets. */
const conditional = { headers: ["If-Match", "If-None-Match"], also: [412] } as const;
const download = {
  headers: ["Range", "If-Range", ...conditional.headers],
  also: [206, 304, 412, 416],
} as const;

/** Every route of the agents platform; the document and its test are made from this table. */
export const agentsOperations: readonly AgentsOperation[] = [
  {
    method: "post",
    path: "/agents",
    summary: "Create an agent",
    body: createAgentBody,
    answer: agentCreatedRecord,
    status: 201,
  },
  {
    method: "get",
    path: "/agents",
    summary: "List your agents",
    answer: agentRecord,
    list: "agents",
    query: agentsQuery,
  },
  {
    method: "get",
    path: "/agents/{agent_id}",
    summary: "Read an agent; of another's public one, its card",
    answer: z.union([agentRecord, agentCard]),
  },
  {
    method: "patch",
    path: "/agents/{agent_id}",
    summary: "Change fields; makes a draft revision",
    body: changeAgentBody,
    answer: agentRecord,
  },
  { method: "delete", path: "/agents/{agent_id}", summary: "Delete an agent; its runs stay readable", status: 204 },
  {
    method: "post",
    path: "/agents/{agent_id}/publish",
    summary: "Publish a revision, or the latest",
    body: publishAgentBody,
    answer: agentRecord,
  },
  {
    method: "get",
    path: "/agents/{agent_id}/revisions",
    summary: "List revisions, newest first",
    answer: revisionEntry,
    list: "revisions",
    query: revisionsQuery,
  },
  {
    method: "get",
    path: "/agents/{agent_id}/revisions/{revision_id}",
    summary: "Read a revision whole",
    answer: revisionRecord,
  },
  {
    method: "get",
    path: "/agents/{agent_id}/revisions/{revision_id}/diff",
    summary: "What a revision changed",
    answer: revisionDiff,
    query: diffQuery,
  },
  {
    method: "post",
    path: "/agents/{agent_id}/runs",
    summary: "Run an agent",
    body: createRunBody,
    answer: runRecord,
    status: 201,
    headers: ["Idempotency-Key"],
  },
  {
    method: "post",
    path: "/agents/{creator_username}/{agent_slug}/runs",
    summary: "Run an agent of the marketplace",
    body: createRunBody,
    answer: runRecord,
    status: 201,
    headers: ["Idempotency-Key"],
  },
  {
    method: "get",
    path: "/agents/{agent_id}/runs",
    summary: "List the runs of an agent",
    answer: runRecord,
    list: "runs",
    query: agentRunsQuery,
  },
  {
    method: "get",
    path: "/runs",
    summary: "List your runs, or those that one of them started",
    answer: runRecord,
    list: "runs",
    query: runsQuery,
  },
  { method: "get", path: "/runs/{run_id}", summary: "Read a run", answer: runRecord, query: runQuery },
  { method: "post", path: "/runs/{run_id}/cancel", summary: "Cancel a run and all that it started", answer: runRecord },
  {
    method: "get",
    path: "/runs/{run_id}/events",
    summary: "Follow a run as Server-Sent Events",
    answer: { media: "text/event-stream" },
    query: eventsQuery,
    headers: ["Last-Event-ID"],
    also: [204],
  },
  {
    method: "get",
    path: "/runs/{run_id}/events/list",
    summary: "The events of a run",
    answer: runEventList,
    query: eventsQuery,
    headers: ["Last-Event-ID"],
  },
  {
    method: "get",
    path: "/runs/{run_id}/confirmations",
    summary: "The questions of a run",
    answer: confirmationRecord,
    list: "confirmations",
  },
  {
    method: "post",
    path: "/runs/{run_id}/confirmations/{confirmation_id}",
    summary: "Approve or deny, once",
    body: answerConfirmationBody,
    answer: confirmationRecord,
  },
  {
    method: "get",
    path: "/runs/{run_id}/secrets/{secret_id}",
    summary: "Fetch a secret that a run made, once",
    answer: runSecretRecord,
  },
  {
    method: "get",
    path: "/marketplace/agents",
    summary: "List public agents",
    answer: agentCard,
    list: "agents",
    query: marketplaceQuery,
  },
  {
    method: "get",
    path: "/tools",
    summary: "List the tools that an agent can be given",
    answer: toolRecord,
    list: "tools",
  },
  {
    method: "post",
    path: "/mcp-servers",
    summary: "Register a tool server",
    body: createToolServerBody,
    answer: toolServerRecord,
    status: 201,
  },
  {
    method: "get",
    path: "/mcp-servers",
    summary: "List your tool servers",
    answer: toolServerRecord,
    list: "mcp_servers",
    query: listQuery,
  },
  { method: "get", path: "/mcp-servers/{mcp_server_id}", summary: "Read a tool server", answer: toolServerRecord },
  {
    method: "patch",
    path: "/mcp-servers/{mcp_server_id}",
    summary: "Change a tool server",
    body: changeToolServerBody,
    answer: toolServerRecord,
  },
  {
    method: "delete",
    path: "/mcp-servers/{mcp_server_id}",
    summary: "Remove a tool server",
    status: 204,
    query: deleteQuery,
  },
  {
    method: "get",
    path: "/mcp-servers/{mcp_server_id}/tools",
    summary: "List the tools of a server",
    answer: serverToolRecord,
    list: "tools",
  },
  {
    method: "post",
    path: "/drives",
    summary: "Create a drive",
    body: createDriveBody,
    answer: driveRecord,
    status: 201,
  },
  {
    method: "get",
    path: "/drives",
    summary: "List your drives",
    answer: driveRecord,
    list: "drives",
    query: listQuery,
  },
  { method: "get", path: "/drives/{drive_id}", summary: "Read a drive", answer: driveRecord },
  {
    method: "delete",
    path: "/drives/{drive_id}",
    summary: "Delete a drive and its files",
    status: 204,
    query: deleteQuery,
  },
  {
    method: "post",
    path: "/drives/{drive_id}/files",
    summary: "Upload a new file",
    body: "upload",
    answer: driveFileRecord,
    status: 201,
    ...conditional,
  },
  {
    method: "get",
    path: "/drives/{drive_id}/files/{path}",
    summary: "Download a file",
    answer: { media: "application/octet-stream" },
    ...download,
  },
  { method: "head", path: "/drives/{drive_id}/files/{path}", summary: "What a download would say", ...download },
  {
    method: "put",
    path: "/drives/{drive_id}/files/{path}",
    summary: "Replace a file",
    body: "file",
    answer: driveFileRecord,
    ...conditional,
  },
  {
    method: "delete",
    path: "/drives/{drive_id}/files/{path}",
    summary: "Delete a file",
    status: 204,
    ...conditional,
  },
  {
    method: "get",
    path: "/drives/{drive_id}/items",
    summary: "List a directory",
    answer: driveItemList,
    query: itemsQuery,
  },
  {
    method: "delete",
    path: "/drives/{drive_id}/tree/{path}",
    summary: "Delete a directory with everything under it",
    status: 204,
  },
  {
    method: "put",
    path: "/connectors/idp",
    summary: "Set up the identity connector",
    body: putIdpConnectorBody,
    answer: idpConnectorRecord,
  },
  { method: "get", path: "/connectors/idp", summary: "Read the identity connector", answer: idpConnectorRecord },
  { method: "delete", path: "/connectors/idp", summary: "Remove the identity connector", status: 204 },
  {
    method: "get",
    path: "/connectors/idp/actions",
    summary: "List the connector's actions",
    answer: idpActionRecord,
    list: "actions",
  },
  {
    method: "post",
    path: "/connectors/idp/actions/{name}",
    summary: "Run an action; a write needs confirm: true",
    body: runIdpActionBody,
    answer: idpOutcomeRecord,
  },
];
