import { z } from "zod";
import { endpointId } from "./accounts.ts";
import { dollars } from "./dollars.ts";
import { oneOf } from "./field-schema.ts";
import { isRecord } from "./field-value.ts";
import { pricingSchema } from "./manifest-schema.ts";
import { takenDown } from "./take-downs.ts";

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
    .regex(/^(?=.*\S)\P{Cc}+$/u, "Must be a line of text, not blank and without control characters")
    .describe("A line of text, not blank and without control characters.");
const id = z.string().min(1).max(100);
const isOrigin = (text: string) => /^https?:/.test(text) && URL.parse(text)?.origin === text;
const jsonObject = z.record(z.string(), z.unknown());

export const agentBinding = z
  .strictObject({
    type: z.literal("agent"),
    agent_id: id,
    name: z
      .string()
      .regex(/^[a-zA-Z0-9_-]{1,64}$/, "A tool's name has 1 to 64 letters, digits, _ and -")
      .optional()
      .describe("What the model calls it by: letters, digits, `_` and `-`, 64 at most. Left out: the agent's slug."),
    description: z.string().max(2000).optional().describe("What the model is told that it does."),
  })
  .describe("Another agent as a tool; its arguments are that agent's input.");
export type AgentBinding = z.infer<typeof agentBinding>;

export const toolBinding = z
  .strictObject({
    type: z.literal("tool"),
    id: id.describe("One of `GET /tools`."),
    confirm: oneOf(confirmPolicies)
      .optional()
      .describe("When the run asks before it calls the tool: at every call, at those that write, or never."),
    arguments: jsonObject
      .optional()
      .describe(
        "Fixed values: the model neither sees nor chooses them. Fixed headers of `http_request` may refer to your stored secrets as `{{secret:name}}`.",
      ),
    origin: z
      .string()
      .max(300)
      .refine(isOrigin, "Must be an origin such as https://api.example.com: scheme, host and port, without a path")
      .optional()
      .describe(
        "Of `http_request`: the only origin that it calls. Required to publish fixed headers or a fixed body, unless `url` is fixed.",
      ),
  })
  .describe("A tool with settings of its own.");
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
export const agentTool = z.preprocess(
  (entry, ctx) => {
    const parsed = schemaOfTool(entry).safeParse(entry);
    for (const issue of parsed.error?.issues ?? []) ctx.addIssue({ ...issue });
    return entry;
  },
  z.union([id, agentBinding, toolBinding]).describe("A tool's id, or a binding."),
);

const instruction = z.string().max(16_384).optional();

export const agentInstructions = z
  .strictObject({ planning: instruction, tool_calling: instruction, formatting: instruction })
  .describe("What the model is told beside the goal: when it plans, when it calls tools, when it writes the output.");

export const toolServerBinding = z.strictObject({
  id: id.describe("One of your tool servers."),
  tools: z.array(lineOfText(200)).max(256).optional().describe("Only these of its tools; left out: all."),
});

export const agentPricing = z.strictObject({
  per_run: dollars.describe("Dollars that another user pays to the creator for a run that is done."),
});

const agentFields = {
  name: lineOfText(100),
  goal: z
    .string()
    .min(1)
    .max(65_536)
    .describe("What a run is to reach: a Handlebars template over the run's input, such as `Summarise {{url}}.`"),
  tools: z.array(agentTool).max(128),
  model: endpointId.describe("The text model that thinks, as `owner/model`."),
  input_schema: jsonObject.describe("A JSON Schema that the input of a run must satisfy."),
  output_schema: jsonObject
    .nullable()
    .describe("A JSON Schema that the output satisfies; null: the JSON object that the model gave, or `{text}`."),
  instructions: agentInstructions,
  drives: z
    .array(id)
    .max(32)
    .describe("Ids of drives that its runs may use; the first is used where a call names none."),
  mcp_servers: z.array(toolServerBinding).max(32).describe("Tool servers whose tools its runs may call."),
  pricing: agentPricing,
  context_compression: z
    .boolean()
    .describe("Whether a conversation is summarised before it outgrows the model's window."),
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

export const publishAgentBody = z.strictObject({ revision_id: id.optional().describe("Left out: the latest.") });

export const agentWarning = z
  .object({ field: z.string(), message: z.string() })
  .describe("Something that does not keep an agent from being saved, but looks like a mistake.");
export type AgentWarning = z.infer<typeof agentWarning>;

const slugMeaning = "Made from the name; it stands in the address of a public agent, beside its owner.";

export const agentCreatedRecord = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(agentStatuses),
  revision_id: z.string().describe("Its first revision, a draft until it is published."),
  created_at: z.iso.datetime(),
  visibility: z.enum(agentVisibilities),
  slug: z.string().describe(slugMeaning),
  warnings: z.array(agentWarning),
});
export type AgentCreatedRecord = z.infer<typeof agentCreatedRecord>;

/** An agent as its owner reads it: the fields of the latest revision. */
export const agentRecord = agentSnapshot.extend({
  id: z.string(),
  slug: z.string().describe(slugMeaning),
  owner: z.string().describe("A username."),
  status: z.enum(agentStatuses),
  visibility: z.enum(agentVisibilities).describe("Public agents are in the marketplace once they are published."),
  taken_down: takenDown
    .optional()
    .describe("Only when an admin took the agent down: it stays private until an admin restores it."),
  published_revision_id: z.string().nullable().describe("What runs execute; null until the first publication."),
  latest_revision_id: z.string().describe("The one whose fields are shown here."),
  warnings: z.array(agentWarning),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type AgentRecord = z.infer<typeof agentRecord>;

/** A published agent as others see it, and keys limited to models: how to call it and what it costs. */
export const agentCard = z.object({
  id: z.string(),
  slug: z.string(),
  owner: z.string(),
  name: z.string(),
  status: z.literal("published"),
  visibility: z.enum(agentVisibilities).describe("`private` only for a key of the owner that is limited to models."),
  input_schema: jsonObject,
  output_schema: jsonObject.nullable(),
  pricing: agentFields.pricing,
  models: z
    .array(z.object({ model: z.string(), pricing: pricingSchema }))
    .describe(
      "Models that you pay for when you run the agent, those of its sub-agents included. A model that is private to a creator is paid by that creator and is not listed.",
    ),
  agents: z
    .array(z.object({ agent: z.string().describe("`creator/slug`"), pricing: agentPricing }))
    .describe("Agents of other creators that a run may call, where they cost something: you pay their price too."),
  created_at: z.iso.datetime(),
  published_at: z.iso.datetime(),
});
export type AgentCard = z.infer<typeof agentCard>;

/** An owner reads the agent; others, and keys limited to models, read a card. */
export const readableAgent = z.union([agentRecord, agentCard]);

export const revisionEntry = z.object({
  id: z.string(),
  number: z.int().describe("Counts from 1 within the agent."),
  status: z.enum(revisionStatuses).describe("`superseded`: it was published before another was."),
  created_at: z.iso.datetime(),
});
export type RevisionEntry = z.infer<typeof revisionEntry>;

export const revisionRecord = agentSnapshot.extend({
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
    .describe(
      "What stands in both but is bound in another way, of drives what stands at another place among those; left out where there is none.",
    ),
});
export type ListChange = z.infer<typeof listChange>;

export const valueChange = z.object({ old: z.unknown(), new: z.unknown() });
export type ValueChange = z.infer<typeof valueChange>;

export const revisionDiff = z.object({
  changes: z.record(z.string(), z.union([listChange, valueChange])).describe("By the name of the field."),
});
export type RevisionDiff = z.infer<typeof revisionDiff>;

export const toolRecord = z.object({
  id: z.string(),
  description: z.string(),
  parameters: jsonObject.describe("A JSON Schema of the arguments."),
  kind: z
    .enum(["read", "write"])
    .describe("One that writes asks for a confirmation unless its binding says otherwise."),
});
export type ToolRecord = z.infer<typeof toolRecord>;
