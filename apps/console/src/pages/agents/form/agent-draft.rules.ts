import type { AgentRecord, AgentSnapshot, AgentTool } from "@gantry/sdk";
import { isRecord } from "../../../ui/json.rules.ts";

/** An agent while it is being written: everything that a revision holds. */
export type AgentDraft = AgentSnapshot;

export const emptyDraft: AgentDraft = {
  name: "",
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
};

export const instructionParts = ["planning", "tool_calling", "formatting"] as const;

const fields = Object.keys(emptyDraft) as (keyof AgentDraft)[];

export function draftOf(agent: AgentRecord | AgentSnapshot): AgentDraft {
  return Object.fromEntries(fields.map((field) => [field, agent[field]])) as unknown as AgentDraft;
}

/** Only what differs; undefined: nothing does. */
export function changesOf(before: AgentDraft, after: AgentDraft): Partial<AgentDraft> | undefined {
  const changed = fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((field) => [field, after[field]])) as Partial<AgentDraft>;
}

const isText = (value: unknown) => typeof value === "string";
const isTool = (value: unknown) => {
  if (!isRecord(value)) return isText(value);
  return value.type === "agent" ? isText(value.agent_id) : value.type === "tool" && isText(value.id);
};
const isServer = (value: unknown) =>
  isRecord(value) && isText(value.id) && (value.tools === undefined || isListOf(isText)(value.tools));
const isListOf = (is: (value: unknown) => boolean) => (value: unknown) => Array.isArray(value) && value.every(is);

/** What the form can show; whether the values are good is for the service to say. */
const shapes: Record<keyof AgentDraft, [is: (value: unknown) => boolean, words: string]> = {
  name: [isText, "a text"],
  goal: [isText, "a text"],
  tools: [isListOf(isTool), "a list of tool ids and bindings"],
  model: [isText, "a text"],
  input_schema: [isRecord, "an object"],
  output_schema: [(value) => value === null || isRecord(value), "an object or null"],
  instructions: [(value) => isRecord(value) && Object.values(value).every(isText), "an object of texts"],
  drives: [isListOf(isText), "a list of drive ids"],
  mcp_servers: [isListOf(isServer), "a list of { id, tools }"],
  pricing: [(value) => isRecord(value) && typeof value.per_run === "number", "{ per_run }"],
  context_compression: [(value) => typeof value === "boolean", "true or false"],
};

/** What somebody wrote as JSON, with defaults for what is left out; or why the form cannot show it. */
export function readDraft(given: Record<string, unknown>): { draft: AgentDraft } | { fault: string } {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(shapes, name));
  if (unknown !== undefined) return { fault: `An agent has no field "${unknown}"` };
  const draft = { ...emptyDraft, ...given };
  const wrong = fields.find((field) => !shapes[field][0](draft[field]));
  return wrong === undefined ? { draft } : { fault: `"${wrong}" must be ${shapes[wrong][1]}` };
}

/** What a tool of the list is: by its id, with settings, or another agent. */
export const toolIdOf = (tool: AgentTool): string | undefined => {
  if (typeof tool === "string") return tool;
  return tool.type === "tool" ? tool.id : undefined;
};
