import type { AgentSnapshot, AgentTool, AgentVisibility, AgentWarning } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import type { Issue } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import { holdsConversations } from "../models/index.ts";
import {
  asToolBinding,
  boundAgentIds,
  isAgentBinding,
  isConnectorAction,
  nameIssues,
  toolIssues,
} from "./binding.rules.ts";
import type { AgentsContext } from "./context.ts";
import { describeCircle, findCircle } from "./find-circle.ts";
import {
  fixedRequestIssues,
  isUnbound,
  literalCredentials,
  secretsNamedBy,
  unboundRequest,
} from "./fixed-request.rules.ts";
import { type CheckedDraft, nothing, type SnapshotFindings, type Surroundings } from "./surroundings.ts";

/**
 * What the contents of an agent name: each field that is given. It comes and goes while the contents stand, so it is
 * looked at again for every agent of a list: by lookups that the list shares, never by trying a schema.
 */
export async function checkSurroundings(
  context: AgentsContext,
  surroundings: Surroundings,
  { userId }: Caller,
  { agentId, visibility, fields }: CheckedDraft,
): Promise<SnapshotFindings> {
  const { model, tools, drives, mcp_servers } = fields;
  const found = await Promise.all([
    model === undefined ? nothing() : checkModel(surroundings, model, visibility),
    tools ? checkTools(context, surroundings, { userId, agentId }, tools) : nothing(),
    tools ? checkFixedRequest(surroundings, tools) : nothing(),
    tools ? checkConnector(context, surroundings, tools) : nothing(),
    drives ? checkDrives(context, surroundings, drives, tools ?? []) : nothing(),
    mcp_servers ? checkServers(surroundings, mcp_servers) : nothing(),
  ]);
  return { issues: found.flatMap((part) => part.issues), warnings: found.flatMap((part) => part.warnings) };
}

async function checkModel(
  { models }: Surroundings,
  endpointId: string,
  visibility: AgentVisibility,
): Promise<SnapshotFindings> {
  const wrong = (msg: string): SnapshotFindings => ({
    issues: [{ type: "value_error", loc: ["body", "model"], msg }],
    warnings: [],
  });
  const model = (await models([endpointId])).get(endpointId);
  if (!model) return wrong(`There is no model ${endpointId} that you may call`);
  if (model.manifest.kind !== "text") return wrong(`${endpointId} is no text model`);
  if (!holdsConversations(model.manifest)) {
    return wrong(`${endpointId} cannot hold a conversation with tools: its backend is ${model.manifest.backend.type}`);
  }
  const warnings: AgentWarning[] = [];
  const { capacity, pricing } = model.manifest;
  if (capacity === 0) warnings.push({ field: "model", message: `${endpointId} is not active` });
  const isPriced = Object.values(pricing).some((price) => price);
  if (visibility === "public" && model.manifest.visibility === "private" && isPriced) {
    const message = `Runs by other users use your private model ${endpointId} at your expense`;
    warnings.push({ field: "model", message });
  }
  return { issues: [], warnings };
}

async function checkTools(
  context: AgentsContext,
  surroundings: Surroundings,
  { userId, agentId }: { userId: string; agentId: string | undefined },
  tools: readonly AgentTool[],
): Promise<SnapshotFindings> {
  const bound = boundAgentIds(tools);
  const callable = await surroundings.agents(bound);
  const names = new Map([...callable].map(([id, { slug }]) => [id, slug]));
  const issues = [...toolIssues(tools, context.tools), ...nameIssues(tools, names)];
  const warnings: AgentWarning[] = [];
  for (const [at, tool] of tools.entries()) {
    if (!isAgentBinding(tool)) continue;
    const agent = callable.get(tool.agent_id);
    const loc = ["body", "tools", at, "agent_id"];
    if (!agent) issues.push({ type: "value_error", loc, msg: `There is no agent ${tool.agent_id} that you may call` });
    else if (!agent.isPublished && agent.id !== agentId) {
      warnings.push({ field: "tools", message: `The agent ${agent.slug} is not published yet` });
    }
  }
  const circle = agentId === undefined ? undefined : await findCircle(surroundings.bindings, agentId, bound);
  if (agentId !== undefined && circle) issues.push(await circleIssue(context.database.sql, userId, agentId, circle));
  return { issues, warnings };
}

async function checkFixedRequest(surroundings: Surroundings, tools: readonly AgentTool[]): Promise<SnapshotFindings> {
  const stored = await surroundings.secrets(secretsNamedBy(tools));
  const warnings: AgentWarning[] = literalCredentials(tools).map((name) => ({
    field: "tools",
    message: `The fixed header ${name} of http_request is stored in clear. Store its value as a secret and write {{secret:name}} in its place`,
  }));
  if (isUnbound(tools)) warnings.unshift({ field: "tools", message: unboundRequest });
  return { issues: fixedRequestIssues(tools, stored), warnings };
}

export async function circleIssue(
  sql: Sql,
  userId: string,
  agentId: string,
  circle: readonly string[],
): Promise<Issue> {
  const msg = await describeCircle(sql, userId, agentId, circle);
  return { type: "value_error", loc: ["body", "tools"], msg };
}

/** Whether a tool that there is goes by such an id. */
function binds(tools: readonly AgentTool[], { tools: table }: AgentsContext, isSuch: (id: string) => boolean): boolean {
  return tools.some((tool) => {
    if (isAgentBinding(tool)) return false;
    const { id } = asToolBinding(tool);
    return isSuch(id) && table.has(id);
  });
}

/** Runs of others use theirs, but its owner is who tries an agent first. */
async function checkConnector(
  context: AgentsContext,
  { connectorTrouble }: Surroundings,
  tools: readonly AgentTool[],
): Promise<SnapshotFindings> {
  const trouble = binds(tools, context, isConnectorAction) ? await connectorTrouble() : undefined;
  const message = `An identity tool is bound, and your runs cannot use it: ${trouble}`;
  return { issues: [], warnings: trouble === undefined ? [] : [{ field: "tools", message }] };
}

async function checkDrives(
  context: AgentsContext,
  surroundings: Surroundings,
  drives: readonly string[],
  tools: readonly AgentTool[],
): Promise<SnapshotFindings> {
  const found = await surroundings.drives(drives);
  const issues = listIssues("drives", drives, (id) => (found.has(id) ? undefined : `There is no drive ${id}`));
  const needsOne = binds(tools, context, (id) => id.startsWith("drive_"));
  const message = "A drive tool is bound, but the agent has no drive";
  return { issues, warnings: needsOne && drives.length === 0 ? [{ field: "drives", message }] : [] };
}

async function checkServers(
  { toolServers }: Surroundings,
  servers: AgentSnapshot["mcp_servers"],
): Promise<SnapshotFindings> {
  const ids = servers.map(({ id }) => id);
  const found = await toolServers(ids);
  const issues = listIssues("mcp_servers", ids, (id) => (found.has(id) ? undefined : `There is no tool server ${id}`), [
    "id",
  ]);
  const warnings = servers.flatMap(({ id, tools = [] }) => {
    const { name, knownTools } = found.get(id) ?? {};
    const unknown = knownTools ? tools.filter((tool) => !knownTools.has(tool)) : [];
    return unknown.map((tool) => ({
      field: "mcp_servers",
      message: `The tool server ${name} had no tool ${tool} when it was last asked`,
    }));
  });
  return { issues, warnings };
}

function listIssues(
  field: string,
  ids: readonly string[],
  missing: (id: string) => string | undefined,
  below: readonly string[] = [],
): Issue[] {
  return ids.flatMap((id, at): Issue[] => {
    const msg = ids.indexOf(id) < at ? `${id} is named twice` : missing(id);
    return msg === undefined ? [] : [{ type: "value_error", loc: ["body", field, at, ...below], msg }];
  });
}
