import type { AgentRecord, AgentSnapshot, AgentTool } from "@gantry/sdk";
import { isRecord } from "../../../ui/json.rules.ts";

/** The editable part of an agent, as stored in a revision. */
export type AgentDraft = Omit<AgentSnapshot, Nullable> & Pick<AgentRecord, Nullable>;
/** Fields that revisions of earlier versions lack. */
type Nullable = "description" | "memory" | "webhook";

export const emptyDraft: AgentDraft = {
  name: "",
  description: null,
  goal: "",
  tools: [],
  model: "anthropic/default",
  input_schema: { type: "object", properties: {} },
  output_schema: null,
  instructions: {},
  drives: [],
  mcp_servers: [],
  pricing: { per_run: 0 },
  context_compression: true,
  memory: null,
  webhook: null,
};

/** A section of the form. */
export interface SectionOfDraft {
  draft: AgentDraft;
  errors: Readonly<Record<string, string>>;
  onChange(change: Partial<AgentDraft>): void;
}

export const instructionParts = ["planning", "tool_calling", "formatting"] as const;
type Instructions = AgentDraft["instructions"];

/** Empty text removes the instruction. */
export function withInstruction(
  instructions: Instructions,
  part: (typeof instructionParts)[number],
  text: string,
): Instructions {
  const { [part]: _before, ...rest } = instructions;
  return text === "" ? rest : { ...rest, [part]: text };
}

const fields = Object.keys(emptyDraft) as (keyof AgentDraft)[];

export function draftOf(agent: AgentRecord | AgentSnapshot): AgentDraft {
  return Object.fromEntries(fields.map((field) => [field, agent[field] ?? null])) as unknown as AgentDraft;
}

/** Undefined: no changes. */
export function changesOf(before: AgentDraft, after: AgentDraft): Partial<AgentDraft> | undefined {
  const changed = fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((field) => [field, after[field]])) as Partial<AgentDraft>;
}

export interface Rebased {
  draft: AgentDraft;
  /** Fields that only the newer version changed. */
  taken: readonly (keyof AgentDraft)[];
  /** Fields that both changed: the draft keeps its own. */
  kept: readonly (keyof AgentDraft)[];
}

/** The changes from `base` to `draft`, made to a version that was saved meanwhile. */
export function rebased(base: AgentDraft, saved: AgentDraft, draft: AgentDraft): Rebased {
  const own = changesOf(base, draft) ?? {};
  const merged = { ...saved, ...own };
  const theirs = Object.keys(changesOf(base, saved) ?? {}) as (keyof AgentDraft)[];
  const differing = changesOf(saved, merged) ?? {};
  return {
    draft: merged,
    taken: theirs.filter((field) => !(field in own)),
    kept: theirs.filter((field) => field in differing),
  };
}

const isText = (value: unknown) => typeof value === "string";
const isTool = (value: unknown) => {
  if (!isRecord(value)) return isText(value);
  return value.type === "agent" ? isText(value.agent_id) : value.type === "tool" && isText(value.id);
};
const isServer = (value: unknown) =>
  isRecord(value) && isText(value.id) && (value.tools === undefined || isListOf(isText)(value.tools));
const isListOf = (is: (value: unknown) => boolean) => (value: unknown) => Array.isArray(value) && value.every(is);

/** Checks only that the form can show the values; the API validates them. */
const shapes: Record<keyof AgentDraft, [is: (value: unknown) => boolean, expected: string]> = {
  name: [isText, "a string"],
  description: [(value) => value === null || isText(value), "a string or null"],
  goal: [isText, "a string"],
  tools: [isListOf(isTool), "a list of tool ids and bindings"],
  model: [isText, "a string"],
  input_schema: [isRecord, "an object"],
  output_schema: [(value) => value === null || isRecord(value), "an object or null"],
  instructions: [(value) => isRecord(value) && Object.values(value).every(isText), "an object of strings"],
  drives: [isListOf(isText), "a list of drive ids"],
  mcp_servers: [isListOf(isServer), "a list of { id, tools }"],
  pricing: [(value) => isRecord(value) && typeof value.per_run === "number", "{ per_run }"],
  context_compression: [(value) => typeof value === "boolean", "true or false"],
  memory: [
    (value) => value === null || (isRecord(value) && isText(value.drive) && isText(value.path)),
    "{ drive, path } or null",
  ],
  webhook: [(value) => value === null || (isRecord(value) && isText(value.url)), "{ url, events } or null"],
};

/** Fills in defaults for missing fields. */
export function readDraft(given: Record<string, unknown>): { draft: AgentDraft } | { fault: string } {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(shapes, name));
  if (unknown !== undefined) return { fault: `Unknown field "${unknown}"` };
  const draft = { ...emptyDraft, ...given };
  const wrong = fields.find((field) => !shapes[field][0](draft[field]));
  return wrong === undefined ? { draft } : { fault: `"${wrong}" must be ${shapes[wrong][1]}` };
}

/** Undefined for an agent used as a tool. */
export const toolIdOf = (tool: AgentTool): string | undefined => {
  if (typeof tool === "string") return tool;
  return tool.type === "tool" ? tool.id : undefined;
};
