import type { AgentSnapshot, AgentVisibility, AgentWarning } from "@gantry/wire";
import type { SchemaFault } from "../../engines/schemas/schemas.ts";
import type { Issue } from "../../kernel/errors.ts";

export interface SnapshotFindings {
  /** What keeps the agent from being saved. `loc[1]` is the field. */
  issues: Issue[];
  warnings: AgentWarning[];
}

/** What is being saved: the fields that are well-formed, of a new agent or of one that stands. */
export interface CheckedDraft {
  agentId: string | undefined;
  visibility: AgentVisibility;
  fields: Partial<AgentSnapshot>;
}

export function nothing(): SnapshotFindings {
  return { issues: [], warnings: [] };
}

export function schemaIssue({ path, message }: SchemaFault, root: readonly (string | number)[]): Issue {
  return { type: "value_error", loc: [...root, ...path], msg: message };
}
