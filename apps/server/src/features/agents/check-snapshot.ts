import type { AgentSnapshot, AgentTool, AgentWarning } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import type { SchemaFault } from "../../engines/schemas/schemas.ts";
import { Fault, type Issue } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import { asToolBinding, boundAgentIds, isAgentBinding, nameIssues, toolIssues } from "./binding.rules.ts";
import { holdsConversations } from "./chat-backends.rules.ts";
import type { AgentsContext } from "./context.ts";
import { describeCircle, findCircle } from "./find-circle.ts";
import { unknownPlaceholders } from "./placeholder.rules.ts";
import { findCallable } from "./store.ts";

/** As JSON, all fields together. */
const maxSnapshotBytes = 262_144;

export interface SnapshotFindings {
  /** What keeps the agent from being saved. `loc[1]` is the field. */
  issues: Issue[];
  warnings: AgentWarning[];
}

/** What is being saved: the fields that are well-formed, of a new agent or of one that stands. */
export interface CheckedDraft {
  agentId: string | undefined;
  fields: Partial<AgentSnapshot>;
}

/** Everything about the contents of an agent that needs to be looked up or tried: each field that is given. */
export async function checkSnapshot(
  context: AgentsContext,
  caller: Caller,
  { agentId, fields }: CheckedDraft,
): Promise<SnapshotFindings> {
  const { goal, model, tools, input_schema, output_schema, drives, mcp_servers } = fields;
  const found = await Promise.all([
    goal === undefined ? nothing() : checkGoal(context, goal, input_schema),
    model === undefined ? nothing() : checkModel(context, caller, model),
    input_schema ? checkSchema(context, "input_schema", input_schema) : nothing(),
    output_schema ? checkSchema(context, "output_schema", output_schema) : nothing(),
    tools ? checkTools(context, caller, agentId, tools) : nothing(),
    drives ? checkDrives(context, caller, drives, tools ?? []) : nothing(),
    mcp_servers ? checkServers(context, caller, mcp_servers) : nothing(),
  ]);
  const issues = found.flatMap((part) => part.issues);
  if (Buffer.byteLength(JSON.stringify(fields)) > maxSnapshotBytes) {
    const msg = `An agent has ${maxSnapshotBytes} bytes of JSON at most`;
    issues.push({ type: "sequence_too_long", loc: ["body"], msg, ctx: { max_length: maxSnapshotBytes } });
  }
  return { issues, warnings: found.flatMap((part) => part.warnings) };
}

function nothing(): SnapshotFindings {
  return { issues: [], warnings: [] };
}

function checkGoal(
  { templates }: AgentsContext,
  goal: string,
  inputSchema: AgentSnapshot["input_schema"] | undefined,
): SnapshotFindings {
  const { faults, placeholders } = templates.check(goal);
  const unknown = inputSchema ? unknownPlaceholders(placeholders, inputSchema) : [];
  return {
    issues: faults.map((msg) => ({ type: "value_error", loc: ["body", "goal"], msg })),
    warnings: unknown.map((text) => ({ field: "goal", message: `input_schema has no ${text}` })),
  };
}

async function checkModel({ models }: AgentsContext, caller: Caller, endpointId: string): Promise<SnapshotFindings> {
  const loc = ["body", "model"];
  const slash = endpointId.indexOf("/");
  try {
    const model = await models.resolveForRead(caller, endpointId.slice(0, slash), endpointId.slice(slash + 1));
    if (model.manifest.kind !== "text") {
      return { issues: [{ type: "value_error", loc, msg: `${endpointId} is no text model` }], warnings: [] };
    }
    if (!holdsConversations(model.manifest)) {
      const msg = `${endpointId} cannot hold a conversation with tools: its backend is ${model.manifest.backend.type}`;
      return { issues: [{ type: "value_error", loc, msg }], warnings: [] };
    }
    const isIdle = model.manifest.capacity === 0;
    return { issues: [], warnings: isIdle ? [{ field: "model", message: `${endpointId} is not active` }] : [] };
  } catch (error) {
    if (!(error instanceof Fault) || (error.type !== "not_found" && error.type !== "forbidden")) throw error;
    const msg = `There is no model ${endpointId} that you may call`;
    return { issues: [{ type: "value_error", loc, msg }], warnings: [] };
  }
}

async function checkSchema(
  { schemas }: AgentsContext,
  field: "input_schema" | "output_schema",
  schema: Record<string, unknown>,
): Promise<SnapshotFindings> {
  const faults = await schemas.check(schema);
  const types = [schema.type ?? "object"].flat();
  const thing = field === "input_schema" ? "input" : "output";
  const message = `The ${thing} of a run is an object, which this schema does not accept`;
  return {
    issues: faults.map((found) => schemaIssue(found, ["body", field])),
    warnings: types.includes("object") ? [] : [{ field, message }],
  };
}

function schemaIssue({ path, message }: SchemaFault, root: readonly (string | number)[]): Issue {
  return { type: "value_error", loc: [...root, ...path], msg: message };
}

async function checkTools(
  context: AgentsContext,
  caller: Caller,
  agentId: string | undefined,
  tools: readonly AgentTool[],
): Promise<SnapshotFindings> {
  const { sql } = context.database;
  const bound = boundAgentIds(tools);
  const callable = new Map((await findCallable(sql, caller.userId, bound)).map((agent) => [agent.id, agent]));
  const names = new Map([...callable].map(([id, { slug }]) => [id, slug]));
  const issues = [...toolIssues(tools, context.tools), ...nameIssues(tools, names)];
  const warnings: AgentWarning[] = [];
  for (const [at, tool] of tools.entries()) {
    if (!isAgentBinding(tool)) {
      issues.push(...(await argumentIssues(context, asToolBinding(tool), ["body", "tools", at, "arguments"])));
      continue;
    }
    const agent = callable.get(tool.agent_id);
    const loc = ["body", "tools", at, "agent_id"];
    if (!agent) issues.push({ type: "value_error", loc, msg: `There is no agent ${tool.agent_id} that you may call` });
    else if (!agent.isPublished && agent.id !== agentId) {
      warnings.push({ field: "tools", message: `The agent ${agent.slug} is not published yet` });
    }
  }
  const circle = agentId === undefined ? undefined : await findCircle(sql, caller.userId, agentId, bound);
  if (agentId !== undefined && circle) issues.push(await circleIssue(sql, caller.userId, agentId, circle));
  return { issues, warnings };
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

/** Fixed values must be what the tool takes; which ones are required is decided when it is called. */
async function argumentIssues(
  { schemas, tools }: AgentsContext,
  { id, arguments: given }: ReturnType<typeof asToolBinding>,
  root: readonly (string | number)[],
): Promise<Issue[]> {
  const info = tools.get(id);
  if (!info || given === undefined) return [];
  const known = (info.parameters.properties ?? {}) as object;
  const values = Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(known, name)));
  const faults = await schemas.validate({ ...info.parameters, required: [] }, values);
  return faults.map((found) => schemaIssue(found, root));
}

async function checkDrives(
  { driveExists, tools: table }: AgentsContext,
  { userId }: Caller,
  drives: readonly string[],
  tools: readonly AgentTool[],
): Promise<SnapshotFindings> {
  const found = await Promise.all(drives.map((id) => driveExists(userId, id)));
  const issues = listIssues("drives", drives, (at) => (found[at] ? undefined : `There is no drive ${drives[at]}`));
  const needsOne = tools.some((tool) => {
    if (isAgentBinding(tool)) return false;
    const { id } = asToolBinding(tool);
    return id.startsWith("drive_") && table.has(id);
  });
  const message = "A drive tool is bound, but the agent has no drive";
  return { issues, warnings: needsOne && drives.length === 0 ? [{ field: "drives", message }] : [] };
}

async function checkServers(
  { toolServerOf }: AgentsContext,
  { userId }: Caller,
  servers: AgentSnapshot["mcp_servers"],
): Promise<SnapshotFindings> {
  const found = await Promise.all(servers.map(({ id }) => toolServerOf(userId, id)));
  const ids = servers.map(({ id }) => id);
  const issues = listIssues(
    "mcp_servers",
    ids,
    (at) => (found[at] ? undefined : `There is no tool server ${ids[at]}`),
    ["id"],
  );
  const warnings = servers.flatMap(({ tools = [] }, at) => {
    const { name, knownTools } = found[at] ?? {};
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
  missing: (at: number) => string | undefined,
  below: readonly string[] = [],
): Issue[] {
  return ids.flatMap((id, at): Issue[] => {
    const msg = ids.indexOf(id) < at ? `${id} is named twice` : missing(at);
    return msg === undefined ? [] : [{ type: "value_error", loc: ["body", field, at, ...below], msg }];
  });
}
