import type { AgentSnapshot, AgentTool, AgentWarning, ToolBinding } from "@gantry/wire";
import type { Issue } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import type { Agent, Revision } from "./agent.ts";
import { asToolBinding, isAgentBinding } from "./binding.rules.ts";
import { checkSurroundings } from "./check-surroundings.ts";
import type { AgentsContext } from "./context.ts";
import { unknownPlaceholders } from "./placeholder.rules.ts";
import { type CheckedDraft, nothing, type SnapshotFindings, schemaIssue, surroundingsOf } from "./surroundings.ts";

/** As JSON, all fields together. */
const maxSnapshotBytes = 262_144;

/** Everything about the contents of an agent that needs to be looked up or tried: each field that is given. */
export async function checkSnapshot(
  context: AgentsContext,
  caller: Caller,
  draft: CheckedDraft,
): Promise<SnapshotFindings> {
  const { fields } = draft;
  const { goal, input_schema, output_schema, tools } = fields;
  const found = await Promise.all([
    goal === undefined ? nothing() : checkGoal(context, goal, input_schema),
    input_schema ? checkSchema(context, caller, "input_schema", input_schema) : nothing(),
    output_schema ? checkSchema(context, caller, "output_schema", output_schema) : nothing(),
    checkSurroundings(context, surroundingsOf(context, caller), caller, draft),
    tools ? checkArguments(context, caller, tools) : nothing(),
  ]);
  const issues = found.flatMap((part) => part.issues);
  if (Buffer.byteLength(JSON.stringify(fields)) > maxSnapshotBytes) {
    const msg = `An agent has ${maxSnapshotBytes} bytes of JSON at most`;
    issues.push({ type: "sequence_too_long", loc: ["body"], msg, ctx: { max_length: maxSnapshotBytes } });
  }
  return { issues, warnings: found.flatMap((part) => part.warnings) };
}

/** Whose findings the contents alone decide: they hold as long as the contents stand. */
export const selfContained: ReadonlySet<string> = new Set(["goal", "input_schema", "output_schema"]);

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

async function checkSchema(
  { schemas }: AgentsContext,
  { userId }: Caller,
  field: "input_schema" | "output_schema",
  schema: Record<string, unknown>,
): Promise<SnapshotFindings> {
  const faults = await schemas.check(schema, userId);
  const types = [schema.type ?? "object"].flat();
  const thing = field === "input_schema" ? "input" : "output";
  const message = `The ${thing} of a run is an object, which this schema does not accept`;
  return {
    issues: faults.map((found) => schemaIssue(found, ["body", field])),
    warnings: types.includes("object") ? [] : [{ field, message }],
  };
}

/** Of all tools that fix some. An agent whose values do not fit is not saved, so they are not tried when it is read. */
async function checkArguments(
  context: AgentsContext,
  caller: Caller,
  tools: readonly AgentTool[],
): Promise<SnapshotFindings> {
  const found = await Promise.all(
    tools.map((tool, at) =>
      isAgentBinding(tool)
        ? []
        : argumentIssues(context, caller, asToolBinding(tool), ["body", "tools", at, "arguments"]),
    ),
  );
  return { issues: found.flat(), warnings: [] };
}

/** Fixed values must be what the tool takes; which ones, and how many, are required is decided when it is called. */
async function argumentIssues(
  { schemas, tools }: AgentsContext,
  { userId }: Caller,
  { id, arguments: given }: ToolBinding,
  root: readonly (string | number)[],
): Promise<Issue[]> {
  const info = tools.get(id);
  if (!info || given === undefined) return [];
  const known = (info.parameters.properties ?? {}) as object;
  const values = Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(known, name)));
  const { required: _names, minProperties: _least, ...ofEach } = info.parameters;
  const faults = await schemas.validate(ofEach, values, userId);
  return faults.map((found) => schemaIssue(found, root));
}

/**
 * Tells what looks like a mistake in revisions at this moment: what they name may have come and gone since they were
 * saved, what they say themselves has not. They are looked at as their owner's, whatever the key at hand reaches.
 */
export function presentWarnings(
  context: AgentsContext,
  owner: Caller,
): (
  agent: Pick<Agent, "visibility">,
  revision: Pick<Revision, "agentId" | "snapshot" | "warnings">,
) => Promise<AgentWarning[]> {
  const surroundings = surroundingsOf(context, { ...owner, models: null });
  return async ({ visibility }, { agentId, snapshot, warnings }) => {
    const found = await checkSurroundings(context, surroundings, owner, { agentId, visibility, fields: snapshot });
    const lasting = warnings.filter(({ field }) => selfContained.has(field));
    return [...lasting, ...found.warnings, ...found.issues.map(asWarning)];
  };
}

/** Of what stands already: it is told, and refuses nothing. */
export function asWarning({ loc, msg }: Issue): AgentWarning {
  return { field: String(loc[1]), message: msg };
}
