import { z } from "zod";
import { oneOf } from "./field-schema.ts";
import { isRecord } from "./field-value.ts";
import { parseUrl } from "./parse-url.rules.ts";

export const confirmPolicies = ["always", "writes", "never"] as const;
export type ConfirmPolicy = (typeof confirmPolicies)[number];

const id = z.string().min(1).max(100);
const isOrigin = (text: string) => /^https?:/.test(text) && parseUrl(text)?.origin === text;
const jsonObject = z.record(z.string(), z.unknown());

export const toolRecord = z.object({
  id: z.string(),
  description: z.string(),
  parameters: jsonObject.describe("JSON Schema of the arguments."),
  settings: jsonObject
    .optional()
    .describe(
      "JSON Schema of further fixed values that a binding's `arguments` can have. The model does not see them.",
    ),
  kind: z
    .enum(["read", "write"])
    .describe("A tool that writes asks for confirmation unless its binding says otherwise."),
});
export type ToolRecord = z.infer<typeof toolRecord>;

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
