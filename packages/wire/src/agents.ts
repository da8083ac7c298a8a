import { z } from "zod";
import { dollars } from "./dollars.ts";
import { oneOf } from "./field-schema.ts";
import { isRecord } from "./field-value.ts";
import { aliasNamePattern, isEndpointId } from "./names.ts";
import { pricingSchema } from "./pricing-schema.ts";
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

/** At least one visible character, and no control characters. */
const lineOfText = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^(?=.*\S)\P{Cc}+$/u, "Must be one line of text, not blank and without control characters")
    .describe("One line of text, not blank and without control characters.");
const id = z.string().min(1).max(100);
const isOrigin = (text: string) => /^https?:/.test(text) && URL.parse(text)?.origin === text;
const jsonObject = z.record(z.string(), z.unknown());

export const agentBinding = z
  .strictObject({
    type: z.literal("agent"),
    agent_id: id,
    name: z
      .string()
      .regex(/^[a-zA-Z0-9_-]{1,64}$/, "A tool's name has 1 to 64 characters: letters, digits, _ and -")
      .optional()
      .describe("The name that the model uses: letters, digits, `_` and `-`, at most 64. Default: the agent's slug."),
    description: z.string().max(2000).optional().describe("The description for the model."),
  })
  .describe("Another agent as a tool. The arguments are that agent's input.");
export type AgentBinding = z.infer<typeof agentBinding>;

export const toolBinding = z
  .strictObject({
    type: z.literal("tool"),
    id: id.describe("One of `GET /tools`."),
    confirm: oneOf(confirmPolicies)
      .optional()
      .describe("When the run asks for confirmation: before every call, before writes, or never."),
    arguments: jsonObject
      .optional()
      .describe(
        "Fixed values that the model neither sees nor chooses. Fixed headers of `http_request` may refer to your stored secrets as `{{secret:name}}`.",
      ),
    origin: z
      .string()
      .max(300)
      .refine(isOrigin, "Must be an origin such as https://api.example.com: scheme, host and port, without a path")
      .optional()
      .describe(
        "For `http_request`: the only origin to call. Required to publish fixed headers or a fixed body, unless `url` is fixed.",
      ),
  })
  .describe("A tool with settings.");
export type ToolBinding = z.infer<typeof toolBinding>;

/** A tool's id, or a binding. */
export type AgentTool = string | AgentBinding | ToolBinding;

const bindingKind = z.looseObject({ type: oneOf(["agent", "tool"]) });

function schemaOfTool(entry: unknown) {
  if (!isRecord(entry)) return id;
  if (entry.type === "agent") return agentBinding;
  return entry.type === "tool" ? toolBinding : bindingKind;
}

// The union would only report "invalid input"; this check reports what is wrong with the binding.
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
  .describe("Instructions for the model beside the goal: for planning, for tool calls, for the output.");

export const toolServerBinding = z.strictObject({
  id: id.describe("One of your tool servers."),
  tools: z.array(lineOfText(200)).max(256).optional().describe("Only these tools. Default: all."),
});

export const agentPricing = z.strictObject({
  per_run: dollars.describe("Dollars that another user pays the creator for a finished run."),
});

const agentModel = z
  .string()
  .refine(
    (text) => isEndpointId(text) || aliasNamePattern.test(text),
    "A model has the form owner/model, or is an alias without a slash",
  );

const agentFields = {
  name: lineOfText(100),
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
  pricing: agentPricing,
  context_compression: z
    .boolean()
    .describe("Whether to summarise a conversation before it exceeds the model's context window."),
};

/** The content of a revision, which takes effect when it is published. */
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

export const changeAgentBody = agentSnapshot
  .extend({ visibility: oneOf(agentVisibilities) })
  .partial()
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    message: "Nothing to change. Send at least one field.",
    when: ({ issues }) => issues.length === 0,
  });
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

/** The fields of the latest revision, for the owner. */
export const agentRecord = agentSnapshot.extend({
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

export const toolRecord = z.object({
  id: z.string(),
  description: z.string(),
  parameters: jsonObject.describe("JSON Schema of the arguments."),
  kind: z
    .enum(["read", "write"])
    .describe("A tool that writes asks for confirmation unless its binding says otherwise."),
});
export type ToolRecord = z.infer<typeof toolRecord>;
