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
  /** Well-formed fields; of a list, its well-formed entries. */
  fields: Partial<AgentSnapshot>;
  visibility: AgentVisibility | undefined;
  issues: Issue[];
  /** Translates issues of `fields` to positions in the body. */
  placed(found: readonly Issue[]): Issue[];
}

/** Separates well-formed fields from issues, so that lookups can still run and the response lists all issues at once. */
export function readDraft(body: unknown, kind: "create" | "change"): ReadDraft {
  const schema = kind === "create" ? createAgentBody : changeAgentBody;
  const { issues: unstorable, isTooDeep } = storableIssues(body);
  if (isTooDeep) throwIfAny(unstorable);
  const issues = [...unstorable, ...schemaIssues(schema, body, ["body"])];
  if (typeof body !== "object" || body === null || Array.isArray(body))
    return { fields: {}, visibility: undefined, issues, placed: (found) => [...found] };
  const given = body as Record<string, unknown>;
  const fields: Record<string, unknown> = {};
  const positions = new Map<string, readonly number[]>();
  for (const field of [...Object.keys(agentSnapshot.shape), "visibility"] as (keyof typeof schema.shape)[]) {
    const wrong = issues.filter(({ loc }) => loc[1] === field);
    const kept = wrong.length > 0 ? wellFormedEntries(given[field], wrong) : undefined;
    if (wrong.length > 0 && !kept) continue;
    const parsed = schema.shape[field].safeParse(kept ? kept.entries : given[field]);
    if (!parsed.success || parsed.data === undefined) continue;
    fields[field] = parsed.data;
    if (kept) positions.set(field, kept.positions);
  }
  const { visibility, ...rest } = fields;
  return {
    fields: rest as Partial<AgentSnapshot>,
    visibility: visibility as AgentVisibility | undefined,
    issues,
    placed: (found) => found.map((issue) => atPosition(issue, positions)),
  };
}

/** The well-formed entries of a list with their positions; undefined if the list as a whole is wrong. */
function wellFormedEntries(
  list: unknown,
  wrong: readonly Issue[],
): { entries: unknown[]; positions: number[] } | undefined {
  if (!Array.isArray(list) || wrong.some(({ loc }) => typeof loc[2] !== "number")) return undefined;
  const isWrong = new Set(wrong.map(({ loc }) => loc[2]));
  const positions = [...list.keys()].filter((at) => !isWrong.has(at));
  return { entries: positions.map((at) => list[at]), positions };
}

function atPosition(issue: Issue, positions: ReadonlyMap<string, readonly number[]>): Issue {
  const [body, field, at, ...rest] = issue.loc;
  const position = typeof at === "number" ? positions.get(String(field))?.[at] : undefined;
  return body === undefined || field === undefined || position === undefined
    ? issue
    : { ...issue, loc: [body, field, position, ...rest] };
}
