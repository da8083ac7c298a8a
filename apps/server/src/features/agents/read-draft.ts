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
  /** The fields of a snapshot that are well-formed; of a list with ill-formed entries, the others. */
  fields: Partial<AgentSnapshot>;
  visibility: AgentVisibility | undefined;
  issues: Issue[];
  /** What was found wrong with `fields`, at its place in the body. */
  placed(found: readonly Issue[]): Issue[];
}

/**
 * Takes what is well-formed out of a body, beside everything wrong with the rest, so that what has to be looked up can
 * still be looked up and all faults are told at once.
 */
export function readDraft(body: unknown, kind: "create" | "change"): ReadDraft {
  const schema = kind === "create" ? createAgentBody : changeAgentBody;
  const { issues: unstorable, isTooDeep } = storableIssues(body);
  if (isTooDeep) throwIfAny(unstorable);
  const issues = [...unstorable, ...schemaIssues(schema, body, ["body"])];
  if (typeof body !== "object" || body === null || Array.isArray(body))
    return { fields: {}, visibility: undefined, issues, placed: (found) => [...found] };
  const given = body as Record<string, unknown>;
  const fields: Record<string, unknown> = {};
  const places = new Map<string, readonly number[]>();
  for (const field of [...Object.keys(agentSnapshot.shape), "visibility"] as (keyof typeof schema.shape)[]) {
    const wrong = issues.filter(({ loc }) => loc[1] === field);
    const kept = wrong.length > 0 ? wellFormedEntries(given[field], wrong) : undefined;
    if (wrong.length > 0 && !kept) continue;
    const parsed = schema.shape[field].safeParse(kept ? kept.entries : given[field]);
    if (!parsed.success || parsed.data === undefined) continue;
    fields[field] = parsed.data;
    if (kept) places.set(field, kept.places);
  }
  const { visibility, ...rest } = fields;
  return {
    fields: rest as Partial<AgentSnapshot>,
    visibility: visibility as AgentVisibility | undefined,
    issues,
    placed: (found) => found.map((issue) => atItsPlace(issue, places)),
  };
}

/** Of a list in which nothing but single entries is wrong, the others, each with its place; undefined for all else. */
function wellFormedEntries(
  list: unknown,
  wrong: readonly Issue[],
): { entries: unknown[]; places: number[] } | undefined {
  if (!Array.isArray(list) || wrong.some(({ loc }) => typeof loc[2] !== "number")) return undefined;
  const isWrong = new Set(wrong.map(({ loc }) => loc[2]));
  const places = [...list.keys()].filter((at) => !isWrong.has(at));
  return { entries: places.map((at) => list[at]), places };
}

function atItsPlace(issue: Issue, places: ReadonlyMap<string, readonly number[]>): Issue {
  const [body, field, at, ...below] = issue.loc;
  const place = typeof at === "number" ? places.get(String(field))?.[at] : undefined;
  return body === undefined || field === undefined || place === undefined
    ? issue
    : { ...issue, loc: [body, field, place, ...below] };
}
