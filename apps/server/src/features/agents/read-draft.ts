import {
  type AgentSnapshot,
  type AgentVisibility,
  agentSnapshot,
  changeAgentBody,
  createAgentBody,
} from "@gantry/wire";
import { type Issue, throwIfAny } from "../../kernel/errors.ts";
import { schemaIssues } from "../../kernel/schema-issues.ts";
import { storableIssues } from "../../kernel/storable-issues.ts";

export interface ReadDraft {
  /** The fields of a snapshot that are well-formed. */
  fields: Partial<AgentSnapshot>;
  visibility: AgentVisibility | undefined;
  issues: Issue[];
}

/**
 * Takes the well-formed fields out of a body, beside everything wrong with the others, so that what has to be looked up
 * can still be looked up and all faults are told at once.
 */
export function readDraft(body: unknown, kind: "create" | "change"): ReadDraft {
  const schema = kind === "create" ? createAgentBody : changeAgentBody;
  const { issues: unstorable, isTooDeep } = storableIssues(body);
  if (isTooDeep) throwIfAny(unstorable);
  const issues = [...unstorable, ...schemaIssues(schema, body, ["body"])];
  if (typeof body !== "object" || body === null || Array.isArray(body))
    return { fields: {}, visibility: undefined, issues };
  const wrong = new Set(issues.map(({ loc }) => loc[1]));
  const given = body as Record<string, unknown>;
  const fields: Record<string, unknown> = {};
  for (const field of [...Object.keys(agentSnapshot.shape), "visibility"] as (keyof typeof schema.shape)[]) {
    const parsed = wrong.has(field) ? undefined : schema.shape[field].safeParse(given[field]);
    if (parsed?.success && parsed.data !== undefined) fields[field] = parsed.data;
  }
  const { visibility, ...rest } = fields;
  return {
    fields: rest as Partial<AgentSnapshot>,
    visibility: visibility as AgentVisibility | undefined,
    issues,
  };
}
