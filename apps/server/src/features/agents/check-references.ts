import {
  type AgentSnapshot,
  type AgentTool,
  type AgentVisibility,
  type AgentWarning,
  isEndpointId,
} from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import type { Issue } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import { holdsConversations, namedBackends } from "../models/index.ts";
import {
  asToolBinding,
  boundAgentIds,
  isAgentBinding,
  isConnectorAction,
  nameIssues,
  toolIssues,
} from "./binding.rules.ts";
import { checkMemory } from "./check-memory.ts";
import type { AgentsContext } from "./context.ts";
import { describeCycle, findCycle } from "./find-cycle.ts";
import {
  fixedRequestIssues,
  isUnbound,
  literalCredentials,
  secretsNamedBy,
  unboundRequest,
} from "./fixed-request.rules.ts";
import { type CheckedDraft, noFindings, type References, type SnapshotFindings } from "./references.ts";
import { lacksProvider, noSearchProvider, searchIssues } from "./search-settings.rules.ts";
import { memoryTool } from "./tools.ts";

/**
 * Checks what the given fields refer to. References change without the agent, so every list of agents checks them again,
 * with lookups that all agents of the list share.
 */
export async function checkReferences(
  context: AgentsContext,
  references: References,
  { userId }: Caller,
  { agentId, visibility, fields }: CheckedDraft,
): Promise<SnapshotFindings> {
  const { model, tools, drives, mcp_servers, memory } = fields;
  const found = await Promise.all([
    model === undefined ? noFindings() : checkModel(references, model, visibility),
    tools ? checkTools(context, references, { userId, agentId, memory }, tools) : noFindings(),
    tools ? checkFixedValues(context, references, tools) : noFindings(),
    tools ? checkConnector(context, references, tools) : noFindings(),
    drives ? checkDrives(context, references, drives, tools ?? []) : noFindings(),
    mcp_servers ? checkServers(references, mcp_servers) : noFindings(),
    memory ? checkMemory(references, memory) : noFindings(),
  ]);
  return { issues: found.flatMap((part) => part.issues), warnings: found.flatMap((part) => part.warnings) };
}

async function checkModel(
  { models }: References,
  name: string,
  visibility: AgentVisibility,
): Promise<SnapshotFindings> {
  const issue = (msg: string): SnapshotFindings => ({
    issues: [{ type: "value_error", loc: ["body", "model"], msg }],
    warnings: [],
  });
  const model = (await models([name])).get(name);
  if (!model) {
    return issue(
      isEndpointId(name)
        ? `Model ${name} does not exist, or you may not call it`
        : `Alias ${name} does not exist, or does not name a model that you may call`,
    );
  }
  const shown = model.endpointId === name ? name : `${model.endpointId} (alias ${name})`;
  if (model.manifest.kind !== "text") return issue(`${shown} is not a text model`);
  if (!holdsConversations(model.manifest)) {
    return issue(`${shown} cannot hold a conversation with tools: ${namedBackends(model.manifest)}`);
  }
  const warnings: AgentWarning[] = [];
  const { capacity, pricing } = model.manifest;
  if (capacity === 0) warnings.push({ field: "model", message: `${shown} is not active` });
  const isPriced = Object.values(pricing).some((price) => price);
  if (visibility === "public" && model.manifest.visibility === "private" && isPriced) {
    const message = `You pay for your private model ${shown} when other users run this agent`;
    warnings.push({ field: "model", message });
  }
  return { issues: [], warnings };
}

async function checkTools(
  context: AgentsContext,
  references: References,
  { userId, agentId, memory }: { userId: string; agentId: string | undefined; memory: AgentSnapshot["memory"] },
  tools: readonly AgentTool[],
): Promise<SnapshotFindings> {
  const bound = boundAgentIds(tools);
  const callable = await references.agents(bound);
  const names = new Map([...callable].map(([id, { slug }]) => [id, slug]));
  const issues = [...toolIssues(tools, context.tools), ...nameIssues(tools, names, memory ? [memoryTool] : [])];
  const warnings: AgentWarning[] = [];
  if (!memory && binds(tools, context, (id) => id === memoryTool)) {
    warnings.push({ field: "tools", message: `The agent has ${memoryTool}, but no memory` });
  }
  for (const [at, tool] of tools.entries()) {
    if (!isAgentBinding(tool)) continue;
    const agent = callable.get(tool.agent_id);
    const loc = ["body", "tools", at, "agent_id"];
    if (!agent)
      issues.push({ type: "value_error", loc, msg: `Agent ${tool.agent_id} does not exist, or you may not call it` });
    else if (!agent.isPublished && agent.id !== agentId) {
      warnings.push({ field: "tools", message: `The agent ${agent.slug} is not published yet` });
    }
  }
  const cycle = agentId === undefined ? undefined : await findCycle(references.bindings, agentId, bound);
  if (agentId !== undefined && cycle) issues.push(await cycleIssue(context.database.sql, userId, agentId, cycle));
  return { issues, warnings };
}

/** Fixed values of `http_request` and `web_search`. */
async function checkFixedValues(
  { isSearxngSet = false }: AgentsContext,
  references: References,
  tools: readonly AgentTool[],
): Promise<SnapshotFindings> {
  const stored = await references.secrets(secretsNamedBy(tools));
  const warnings: AgentWarning[] = literalCredentials(tools).map((name) => ({
    field: "tools",
    message: `The fixed header ${name} of http_request is stored as plain text. Store the value as a secret and write {{secret:name}} instead.`,
  }));
  if (isUnbound(tools)) warnings.unshift({ field: "tools", message: unboundRequest });
  if (lacksProvider(tools, isSearxngSet)) warnings.push({ field: "tools", message: noSearchProvider });
  return { issues: [...fixedRequestIssues(tools, stored), ...searchIssues(tools, stored)], warnings };
}

export async function cycleIssue(sql: Sql, userId: string, agentId: string, cycle: readonly string[]): Promise<Issue> {
  const msg = await describeCycle(sql, userId, agentId, cycle);
  return { type: "value_error", loc: ["body", "tools"], msg };
}

function binds(
  tools: readonly AgentTool[],
  { tools: table }: AgentsContext,
  matches: (id: string) => boolean,
): boolean {
  return tools.some((tool) => {
    if (isAgentBinding(tool)) return false;
    const { id } = asToolBinding(tool);
    return matches(id) && table.has(id);
  });
}

/** Warns about the owner's connector: owners usually run an agent first. */
async function checkConnector(
  context: AgentsContext,
  { connectorProblem }: References,
  tools: readonly AgentTool[],
): Promise<SnapshotFindings> {
  const problem = binds(tools, context, isConnectorAction) ? await connectorProblem() : undefined;
  const message = `The agent has an identity tool that your runs cannot use: ${problem}`;
  return { issues: [], warnings: problem === undefined ? [] : [{ field: "tools", message }] };
}

async function checkDrives(
  context: AgentsContext,
  references: References,
  drives: readonly string[],
  tools: readonly AgentTool[],
): Promise<SnapshotFindings> {
  const found = await references.drives(drives);
  const issues = listIssues("drives", drives, (id) => (found.has(id) ? undefined : `Drive ${id} does not exist`));
  const needsOne = binds(tools, context, (id) => id.startsWith("drive_"));
  const message = "The agent has a drive tool, but no drive";
  return { issues, warnings: needsOne && drives.length === 0 ? [{ field: "drives", message }] : [] };
}

async function checkServers(
  { toolServers }: References,
  servers: AgentSnapshot["mcp_servers"],
): Promise<SnapshotFindings> {
  const ids = servers.map(({ id }) => id);
  const found = await toolServers(ids);
  const issues = listIssues(
    "mcp_servers",
    ids,
    (id) => (found.has(id) ? undefined : `Tool server ${id} does not exist`),
    ["id"],
  );
  const warnings = servers.flatMap(({ id, tools = [] }) => {
    const { name, knownTools } = found.get(id) ?? {};
    const unknown = knownTools ? tools.filter((tool) => !knownTools.has(tool)) : [];
    return unknown.map((tool) => ({
      field: "mcp_servers",
      message: `Tool server ${name} had no tool ${tool} when it was last listed`,
    }));
  });
  return { issues, warnings };
}

function listIssues(
  field: string,
  ids: readonly string[],
  missing: (id: string) => string | undefined,
  subPath: readonly string[] = [],
): Issue[] {
  return ids.flatMap((id, at): Issue[] => {
    const msg = ids.indexOf(id) < at ? `${id} appears twice` : missing(id);
    return msg === undefined ? [] : [{ type: "value_error", loc: ["body", field, at, ...subPath], msg }];
  });
}
