import { z } from "zod";
import { dollars } from "./dollars.ts";

const jsonObject = z.record(z.string(), z.unknown());

export const runStatuses = ["pending", "running", "done", "error"] as const;
export type RunStatus = (typeof runStatuses)[number];

export const runPhases = ["queued", "planning", "working", "awaiting_confirmation", "formatting", "ended"] as const;
export type RunPhase = (typeof runPhases)[number];

export const runErrorTypes = [
  "tool_error",
  "timeout",
  "internal",
  "cancelled",
  "limit_exceeded",
  "insufficient_funds",
  "invalid_input",
] as const;
export type RunErrorType = (typeof runErrorTypes)[number];

export const runLeaves = ["idp", "models", "files"] as const;
export type RunLeave = (typeof runLeaves)[number];

const toolName = z.string().min(1).max(128);

export const createRunBody = z.strictObject({
  input: jsonObject.describe("Must satisfy the agent's `input_schema`."),
  revision_id: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe("A revision of your own agent. Default: the published one."),
  expected_price: dollars
    .optional()
    .describe("The agent's `per_run` that you expect. If the price has changed, the answer is 409 with the new price."),
  max_cost: dollars.optional().describe("Dollars that the run and its descendants may cost."),
  timeout_seconds: z
    .number()
    .min(1)
    .max(86_400)
    .default(900)
    .describe("Active time; waiting for a confirmation does not count."),
  max_steps: z.int().min(1).max(1000).default(50).describe("Maximum number of model calls."),
  wait: z
    .number()
    .min(0)
    .max(60)
    .optional()
    .describe("Seconds to wait for the end of the run or a confirmation. Default: do not wait."),
  approve: z.array(toolName).max(200).optional().describe("Tools that may write without confirmation."),
  connectors: z
    .array(z.enum(runLeaves))
    .max(10)
    .optional()
    .describe(
      "Your resources that another user's agent may use: identity connector (`idp`), private models (`models`), stored files by `s3://` address (`files`). Default: none.",
    ),
});
export type CreateRunBody = z.input<typeof createRunBody>;
/** With defaults. */
export type ReadRunBody = z.output<typeof createRunBody>;

export const answerConfirmationBody = z.strictObject({
  approve: z.boolean(),
  reason: z.string().max(2000).optional().describe("Shown to the model."),
});

export const runError = z.object({
  type: z.enum(runErrorTypes),
  message: z.string().describe("For people; may change."),
});

export const runUsage = z
  .object({ input_tokens: z.int(), output_tokens: z.int(), cached_tokens: z.int(), cache_write_tokens: z.int() })
  .describe("Sum of all model calls so far.");

export const runRecord = z.object({
  id: z.string(),
  agent_id: z.string(),
  revision_id: z.string(),
  status: z.enum(runStatuses),
  phase: z.enum(runPhases).describe("What the run is doing; in `awaiting_confirmation` it waits for your answer."),
  parent_run_id: z.string().nullable().describe("The run that started this one as a tool."),
  input: jsonObject.optional().describe("Omitted, like output and error, if the run belongs to another user."),
  output: jsonObject.optional().describe("Set if the run is `done`."),
  error: runError.optional(),
  duration_ms: z.int().optional(),
  usage: runUsage.optional(),
  cost: z.number().optional().describe("Dollars charged to the caller so far."),
  earned: z.number().optional().describe("Dollars that you earned as the agent's creator from another user's run."),
  created_at: z.iso.datetime(),
  completed_at: z.iso.datetime().optional(),
});
export type RunRecord = z.infer<typeof runRecord>;

export const runSecretRecord = z.object({
  id: z.string(),
  field: z.string().describe("The field of the tool's result that held it."),
  value: z.string(),
});
export type RunSecretRecord = z.infer<typeof runSecretRecord>;

export const confirmationRecord = z.object({
  id: z.string(),
  run_id: z.string(),
  tool: z.string(),
  arguments: jsonObject.describe("The arguments of the call."),
  details: jsonObject.optional().describe("Consequences, as far as the tool knows them."),
  status: z.enum(["pending", "approved", "denied", "expired"]),
  reason: z.string().optional(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  resolved_at: z.iso.datetime().optional(),
});
export type ConfirmationRecord = z.infer<typeof confirmationRecord>;
