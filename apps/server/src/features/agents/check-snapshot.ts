import type { AgentSnapshot, AgentTool, AgentWarning, ToolBinding } from "@gantry/wire";
import type { Issue } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import type { Agent, Revision } from "./agent.ts";
import { asToolBinding, isAgentBinding } from "./binding.rules.ts";
import { checkReferences } from "./check-references.ts";
import type { AgentsContext } from "./context.ts";
import { unknownPlaceholders } from "./placeholder.rules.ts";
import { type CheckedDraft, noFindings, referencesOf, type SnapshotFindings, schemaIssue } from "./references.ts";

/** Of the JSON. */
const maxSnapshotBytes = 262_144;

/** Checks the given fields that need lookups, or a template or schema to compile. */
export async function checkSnapshot(
  context: AgentsContext,
  caller: Caller,
  draft: CheckedDraft,
): Promise<SnapshotFindings> {
  const { fields } = draft;
  const { goal, input_schema, output_schema, tools } = fields;
  const found = await Promise.all([
    goal === undefined ? noFindings() : checkGoal(context, goal, input_schema),
    input_schema ? checkSchema(context, caller, "input_schema", input_schema) : noFindings(),
    output_schema ? checkSchema(context, caller, "output_schema", output_schema) : noFindings(),
    checkReferences(context, referencesOf(context, caller), caller, draft),
    tools ? checkArguments(context, caller, tools) : noFindings(),
  ]);
  const issues = found.flatMap((part) => part.issues);
  if (Buffer.byteLength(JSON.stringify(fields)) > maxSnapshotBytes) {
    const msg = `An agent has at most ${maxSnapshotBytes} bytes of JSON`;
    issues.push({ type: "sequence_too_long", loc: ["body"], msg, ctx: { max_length: maxSnapshotBytes } });
  }
  return { issues, warnings: found.flatMap((part) => part.warnings) };
}

/** Fields whose findings depend on the snapshot alone. */
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
  const message = `The ${thing} of a run is an object, but this schema does not accept objects`;
  return {
    issues: faults.map((found) => schemaIssue(found, ["body", field])),
    warnings: types.includes("object") ? [] : [{ field, message }],
  };
}

/** Checks fixed arguments of tools. Stored agents have passed this check. */
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

/** Only the given values are checked: the model adds the others in its call. */
async function argumentIssues(
  { schemas, tools }: AgentsContext,
  { userId }: Caller,
  { id, arguments: given }: ToolBinding,
  root: readonly (string | number)[],
): Promise<Issue[]> {
  const info = tools.get(id);
  if (!info || given === undefined) return [];
  const { required: _names, minProperties: _least, ...ofEach } = info.parameters;
  const known: object = { ...(ofEach.properties ?? {}), ...(info.settings?.properties ?? {}) };
  const values = Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(known, name)));
  const faults = await schemas.validate({ ...ofEach, properties: known }, values, userId);
  return faults.map((found) => schemaIssue(found, root));
}

/** Current warnings of stored revisions, because references may have changed. Checked with all rights of the owner. */
export function presentWarnings(
  context: AgentsContext,
  owner: Caller,
): (
  agent: Pick<Agent, "visibility">,
  revision: Pick<Revision, "agentId" | "snapshot" | "warnings">,
) => Promise<AgentWarning[]> {
  const references = referencesOf(context, { ...owner, models: null });
  return async ({ visibility }, { agentId, snapshot, warnings }) => {
    const found = await checkReferences(context, references, owner, { agentId, visibility, fields: snapshot });
    const stored = warnings.filter(({ field }) => selfContained.has(field));
    return [...stored, ...found.warnings, ...found.issues.map(asWarning)];
  };
}

/** An issue in a stored revision is only a warning. */
export function asWarning({ loc, msg }: Issue): AgentWarning {
  return { field: String(loc[1]), message: msg };
}
