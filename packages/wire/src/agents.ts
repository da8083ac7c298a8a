import { z } from "zod";
import { endpointId } from "./accounts.ts";
import { dollars } from "./dollars.ts";
import { oneOf } from "./field-schema.ts";
import { isRecord } from "./field-value.ts";

export const agentVisibilities = ["private", "public"] as const;
export type AgentVisibility = (typeof agentVisibilities)[number];

export const agentStatuses = ["unpublished", "published"] as const;
export type AgentStatus = (typeof agentStatuses)[number];

const revisionStatuses = ["draft", "published", "superseded"] as const;
export type RevisionStatus = (typeof revisionStatuses)[number];

export const confirmPolicies = ["always", "writes", "never"] as const;
export type ConfirmPolicy = (typeof confirmPolicies)[number];

export const defaultAgentModel = "anthropic/default";
/** An agent's slug stands in paths beside its owner's username. */
export const agentSlugPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** At least one sign that can be seen, none that cannot. */
const lineOfText = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^(?=.*\S)\P{Cc}+$/u, "Must be a line of text, not blank and without control characters");
const id = z.string().min(1).max(100);
const jsonObject = z.record(z.string(), z.unknown());

/** Another agent as a tool; its arguments are that agent's input. */
const agentBinding = z.strictObject({
  type: z.literal("agent"),
  agent_id: id,
  /** What the model calls it by; left out: the agent's slug. */
  name: z
    .string()
    .regex(/^[a-zA-Z0-9_-]{1,64}$/, "A tool's name has 1 to 64 letters, digits, _ and -")
    .optional(),
  description: z.string().max(2000).optional(),
});
export type AgentBinding = z.infer<typeof agentBinding>;

const toolBinding = z.strictObject({
  type: z.literal("tool"),
  id,
  confirm: oneOf(confirmPolicies).optional(),
  /** Fixed values: the model neither sees nor chooses them. */
  arguments: jsonObject.optional(),
});
export type ToolBinding = z.infer<typeof toolBinding>;

/** A tool's id, or a binding. */
export type AgentTool = string | AgentBinding | ToolBinding;

const bindingKind = z.looseObject({ type: oneOf(["agent", "tool"]) });

function schemaOfTool(entry: unknown) {
  if (!isRecord(entry)) return id;
  if (entry.type === "agent") return agentBinding;
  return entry.type === "tool" ? toolBinding : bindingKind;
}

// Before the union, which reports one "invalid input", this tells what is wrong with the binding at hand.
const agentTool = z.preprocess(
  (entry, ctx) => {
    const parsed = schemaOfTool(entry).safeParse(entry);
    for (const issue of parsed.error?.issues ?? []) ctx.addIssue({ ...issue });
    return entry;
  },
  z.union([id, agentBinding, toolBinding]),
);

const instruction = z.string().max(16_384).optional();

const agentFields = {
  name: lineOfText(100),
  goal: z.string().min(1).max(65_536),
  tools: z.array(agentTool).max(128),
  model: endpointId,
  input_schema: jsonObject,
  output_schema: jsonObject.nullable(),
  instructions: z.strictObject({ planning: instruction, tool_calling: instruction, formatting: instruction }),
  drives: z.array(id).max(32),
  mcp_servers: z.array(z.strictObject({ id, tools: z.array(lineOfText(200)).max(256).optional() })).max(32),
  pricing: z.strictObject({ per_run: dollars }),
  context_compression: z.boolean(),
};

/** What one revision holds: everything about an agent that acts when it is published. */
export const agentSnapshot = z.strictObject(agentFields);
export type AgentSnapshot = z.infer<typeof agentSnapshot>;

export const createAgentBody = z.strictObject({
  ...agentFields,
  model: agentFields.model.default(defaultAgentModel),
  input_schema: agentFields.input_schema.default({ type: "object" }),
  output_schema: agentFields.output_schema.default(null),
  instructions: agentFields.instructions.default({}),
  drives: agentFields.drives.default([]),
  mcp_servers: agentFields.mcp_servers.default([]),
  pricing: agentFields.pricing.default({ per_run: 0 }),
  context_compression: agentFields.context_compression.default(true),
  visibility: oneOf(agentVisibilities).default("private"),
});
export type CreateAgentBody = z.infer<typeof createAgentBody>;

/** Only the fields to change, each as a whole. */
export const changeAgentBody = agentSnapshot
  .extend({ visibility: oneOf(agentVisibilities) })
  .partial()
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    message: "There is nothing to change",
    when: ({ issues }) => issues.length === 0,
  });
export type ChangeAgentBody = z.infer<typeof changeAgentBody>;

export const publishAgentBody = z.strictObject({ revision_id: id.optional() });

/** Something that does not keep an agent from being saved, but looks like a mistake. */
const agentWarning = z.object({ field: z.string(), message: z.string() });
export type AgentWarning = z.infer<typeof agentWarning>;

export const agentCreatedRecord = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(agentStatuses),
  revision_id: z.string(),
  created_at: z.string(),
  visibility: z.enum(agentVisibilities),
  slug: z.string(),
  warnings: z.array(agentWarning),
});
export type AgentCreatedRecord = z.infer<typeof agentCreatedRecord>;

/** An agent as its owner reads it: the fields of the latest revision. */
export const agentRecord = agentSnapshot.extend({
  id: z.string(),
  slug: z.string(),
  owner: z.string(),
  status: z.enum(agentStatuses),
  visibility: z.enum(agentVisibilities),
  published_revision_id: z.string().nullable(),
  latest_revision_id: z.string(),
  warnings: z.array(agentWarning),
  created_at: z.string(),
  updated_at: z.string(),
});
export type AgentRecord = z.infer<typeof agentRecord>;

/** A public, published agent as everybody else sees it: how to call it and what it costs. */
export const agentCard = z.object({
  id: z.string(),
  slug: z.string(),
  owner: z.string(),
  name: z.string(),
  status: z.literal("published"),
  visibility: z.literal("public"),
  input_schema: jsonObject,
  output_schema: jsonObject.nullable(),
  pricing: agentFields.pricing,
  created_at: z.string(),
  published_at: z.string(),
});
export type AgentCard = z.infer<typeof agentCard>;

export const revisionEntry = z.object({
  id: z.string(),
  /** Counts from 1 within the agent. */
  number: z.int(),
  status: z.enum(revisionStatuses),
  created_at: z.string(),
});
export type RevisionEntry = z.infer<typeof revisionEntry>;

export const revisionRecord = agentSnapshot.extend({
  ...revisionEntry.shape,
  agent_id: z.string(),
  warnings: z.array(agentWarning),
});
export type RevisionRecord = z.infer<typeof revisionRecord>;

/**
 * `changed` names what stands in both but is bound in another way, of drives what stands at another place among those;
 * it is left out where there is none.
 */
const listChange = z.object({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  changed: z.array(z.string()).optional(),
});
export type ListChange = z.infer<typeof listChange>;

const valueChange = z.object({ old: z.unknown(), new: z.unknown() });
export type ValueChange = z.infer<typeof valueChange>;

export const revisionDiff = z.object({ changes: z.record(z.string(), z.union([listChange, valueChange])) });
export type RevisionDiff = z.infer<typeof revisionDiff>;

export const toolRecord = z.object({
  id: z.string(),
  description: z.string(),
  /** A JSON Schema of the arguments. */
  parameters: jsonObject,
  kind: z.enum(["read", "write"]),
});
export type ToolRecord = z.infer<typeof toolRecord>;
