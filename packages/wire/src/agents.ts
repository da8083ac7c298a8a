import { z } from "zod";
import { agentMemory } from "./agent-memory.ts";
import { dollars } from "./dollars.ts";
import { oneOf, someChange } from "./field-schema.ts";
import { aliasNamePattern, isEndpointId } from "./names.ts";
import { pricingSchema } from "./pricing-schema.ts";
import { agentWebhook } from "./run-webhooks.ts";
import { runLeaves } from "./runs.ts";
import { takenDown } from "./take-downs.ts";
import { agentTool } from "./tools.ts";

export const agentVisibilities = ["private", "public"] as const;
export type AgentVisibility = (typeof agentVisibilities)[number];

export const agentStatuses = ["unpublished", "published"] as const;
export type AgentStatus = (typeof agentStatuses)[number];

const revisionStatuses = ["draft", "published", "superseded"] as const;
export type RevisionStatus = (typeof revisionStatuses)[number];

export const defaultAgentModel = "anthropic/default";

/** At least one visible character, and no control characters. */
export const lineOfText = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^(?=.*\S)\P{Cc}+$/u, "Must be one line of text, not blank and without control characters")
    .describe("One line of text, not blank and without control characters.");
const id = z.string().min(1).max(100);
const jsonObject = z.record(z.string(), z.unknown());

const instruction = z.string().max(16_384).optional();

export const agentInstructions = z
  .strictObject({ planning: instruction, tool_calling: instruction, formatting: instruction })
  .describe("Instructions for the model beside the goal: for planning, for tool calls, for the output.");

export const toolServerBinding = z.strictObject({
  id: id.describe("One of your tool servers."),
  tools: z.array(lineOfText(200)).max(256).optional().describe("Only these tools. Default: all."),
});

export const agentPricing = z.strictObject({
  per_run: dollars.describe("Dollars that another user pays the creator for a finished run."),
});

export const agentModel = z
  .string()
  .refine(
    (text) => isEndpointId(text) || aliasNamePattern.test(text),
    "A model has the form owner/model, or is an alias without a slash",
  );

const agentFields = {
  name: lineOfText(100),
  description: lineOfText(500)
    .nullable()
    .describe("What the agent does, in one line, for people and models that may call it; null: none."),
  goal: z
    .string()
    .min(1)
    .max(65_536)
    .describe("The goal of a run: a Handlebars template over its input, such as `Summarise {{url}}.`"),
  tools: z.array(agentTool).max(128),
  model: agentModel.describe(
    "The text model, as `owner/model` or as an alias of the creator. An alias is resolved for each call of the model.",
  ),
  input_schema: jsonObject.describe("JSON Schema of the input."),
  output_schema: jsonObject
    .nullable()
    .describe("JSON Schema of the output; null: the JSON object that the model returns, or `{text}`."),
  instructions: agentInstructions,
  drives: z.array(id).max(32).describe("Ids of drives that runs may use. The first is the default."),
  mcp_servers: z.array(toolServerBinding).max(32).describe("Tool servers whose tools runs may call."),
  memory: agentMemory.nullable(),
  pricing: agentPricing,
  context_compression: z
    .boolean()
    .describe("Whether to summarise a conversation before it exceeds the model's context window."),
  webhook: agentWebhook
    .nullable()
    .describe("Receives the events of runs that you start yourself and that have no webhook of their own; null: none."),
};

/** The content of a revision, which takes effect when it is published. Revisions of earlier versions lack some fields. */
export const agentSnapshot = z.strictObject({
  ...agentFields,
  description: agentFields.description.optional(),
  webhook: agentFields.webhook.optional(),
  memory: agentFields.memory.optional(),
});
export type AgentSnapshot = z.infer<typeof agentSnapshot>;

export const createAgentBody = z.strictObject({
  ...agentFields,
  description: agentFields.description.default(null),
  model: agentFields.model.default(defaultAgentModel),
  input_schema: agentFields.input_schema.default({ type: "object" }),
  output_schema: agentFields.output_schema.default(null),
  instructions: agentFields.instructions.default({}),
  drives: agentFields.drives.default([]),
  mcp_servers: agentFields.mcp_servers.default([]),
  memory: agentFields.memory.default(null),
  pricing: agentFields.pricing.default({ per_run: 0 }),
  context_compression: agentFields.context_compression.default(true),
  webhook: agentFields.webhook.default(null),
  visibility: oneOf(agentVisibilities).default("private"),
});
export type CreateAgentBody = z.infer<typeof createAgentBody>;

export const changeAgentBody = agentSnapshot
  .extend({ visibility: oneOf(agentVisibilities) })
  .partial()
  .refine(...someChange);
export type ChangeAgentBody = z.infer<typeof changeAgentBody>;

export const publishAgentBody = z.strictObject({ revision_id: id.optional().describe("Default: the latest.") });

export const agentWarning = z
  .object({ field: z.string(), message: z.string() })
  .describe("A likely mistake that does not prevent saving.");
export type AgentWarning = z.infer<typeof agentWarning>;

const slugMeaning = "Derived from the name; part of the address of a public agent, after its owner.";

export const agentCreatedRecord = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(agentStatuses),
  revision_id: z.string().describe("The first revision, a draft until you publish it."),
  created_at: z.iso.datetime(),
  visibility: z.enum(agentVisibilities),
  slug: z.string().describe(slugMeaning),
  warnings: z.array(agentWarning),
});
export type AgentCreatedRecord = z.infer<typeof agentCreatedRecord>;

/** Longer histories are not counted. */
export const mostCountedRuns = 1000;

const runCount = z.int().min(0).max(mostCountedRuns);

/** Runs by all users. */
export const agentActivity = z.object({
  runs: runCount.describe(`Runs of the last 30 days; ${mostCountedRuns} means that many or more.`),
  succeeded: runCount.describe("How many of these are done."),
  failed: runCount.describe("How many of these failed or were cancelled."),
  last_run_at: z.iso.datetime().nullable().describe("When the latest run was created; null: the agent has no runs."),
});
export type AgentActivity = z.infer<typeof agentActivity>;

/** The fields of the latest revision, for the owner. */
export const agentRecord = agentSnapshot.extend({
  description: agentFields.description,
  webhook: agentFields.webhook,
  memory: agentFields.memory,
  id: z.string(),
  slug: z.string().describe(slugMeaning),
  owner: z.string().describe("A username."),
  status: z.enum(agentStatuses),
  visibility: z.enum(agentVisibilities).describe("Public agents appear in the marketplace once published."),
  taken_down: takenDown
    .optional()
    .describe("Set if an admin took the agent down: it stays private until an admin restores it."),
  published_revision_id: z
    .string()
    .nullable()
    .describe("The revision that runs execute; null until the first publication."),
  latest_revision_id: z.string().describe("The revision whose fields are shown here."),
  warnings: z.array(agentWarning),
  activity: agentActivity,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type AgentRecord = z.infer<typeof agentRecord>;

/** A published agent for other users and for keys limited to models: how to call it and what it costs. */
export const agentCard = z.object({
  id: z.string(),
  slug: z.string(),
  owner: z.string(),
  name: z.string(),
  description: agentFields.description,
  status: z.literal("published"),
  visibility: z.enum(agentVisibilities).describe("`private` only for a key of the owner that is limited to models."),
  input_schema: jsonObject,
  output_schema: jsonObject.nullable(),
  pricing: agentFields.pricing,
  models: z
    .array(z.object({ model: z.string(), pricing: pricingSchema }))
    .describe(
      "Models that you pay for when you run the agent, including those of its sub-agents. A creator pays for private models, which are not listed.",
    ),
  agents: z
    .array(z.object({ agent: z.string().describe("`creator/slug`"), pricing: agentPricing }))
    .describe("Paid agents of other creators that a run may call: you pay their price too."),
  connectors: z
    .array(z.enum(runLeaves))
    .describe(
      "Your resources that the agent can use, if you allow them with `connectors` when you create a run: identity connector (`idp`), private models (`models`), stored files (`files`).",
    ),
  activity: agentActivity,
  created_at: z.iso.datetime(),
  published_at: z.iso.datetime(),
});
export type AgentCard = z.infer<typeof agentCard>;

export const readableAgent = z.union([agentRecord, agentCard]);

export const revisionEntry = z.object({
  id: z.string(),
  number: z.int().describe("Counts from 1 for each agent."),
  status: z.enum(revisionStatuses).describe("`superseded`: published before another revision."),
  created_at: z.iso.datetime(),
});
export type RevisionEntry = z.infer<typeof revisionEntry>;

export const revisionRecord = agentSnapshot.extend({
  description: agentFields.description,
  webhook: agentFields.webhook,
  memory: agentFields.memory,
  ...revisionEntry.shape,
  agent_id: z.string(),
  warnings: z.array(agentWarning),
});
export type RevisionRecord = z.infer<typeof revisionRecord>;

export const listChange = z.object({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  changed: z
    .array(z.string())
    .optional()
    .describe("Entries in both revisions with other settings, or drives in another position; omitted if empty."),
});
export type ListChange = z.infer<typeof listChange>;

export const valueChange = z.object({ old: z.unknown(), new: z.unknown() });
export type ValueChange = z.infer<typeof valueChange>;

export const revisionDiff = z.object({
  changes: z.record(z.string(), z.union([listChange, valueChange])).describe("By field name."),
});
export type RevisionDiff = z.infer<typeof revisionDiff>;
