import { z } from "zod";
import { dollars } from "./dollars.ts";
import { runWebhook } from "./run-webhooks.ts";

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

export const threadIdPattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/;

const threadId = z
  .string()
  .max(100, "At most 100 characters")
  .regex(threadIdPattern, "Use letters, digits, `.`, `_`, `:` and `-`; begin with a letter or a digit");

export const createRunBody = z.strictObject({
  input: jsonObject.describe("Must satisfy the agent's `input_schema`."),
  revision_id: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe("A revision of your own agent. Default: the published one."),
  thread_id: threadId
    .optional()
    .describe(
      "The conversation that the run continues. Choose the text; the first run with it creates the thread, which belongs to you and to this agent. The run gets the earlier turns, and waits until earlier runs of the thread have ended.",
    ),
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
  webhook: runWebhook
    .nullish()
    .describe("Receives the events of this run. Null: none. Default: the agent's webhook, for the agent's owner."),
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

export const runSource = z.object({
  type: z.enum(["schedule", "trigger"]),
  id: z.string().describe("The schedule or the trigger."),
});

export const runRecord = z.object({
  id: z.string(),
  agent_id: z.string(),
  agent_name: z.string(),
  revision_id: z.string(),
  status: z.enum(runStatuses),
  phase: z.enum(runPhases).describe("What the run is doing; in `awaiting_confirmation` it waits for your answer."),
  parent_run_id: z.string().nullable().describe("The run that started this one as a tool."),
  thread_id: z.string().optional().describe("The thread that the run belongs to."),
  source: runSource.optional().describe("What created the run, if it was not a request of a client."),
  input: jsonObject.optional().describe("Omitted, like output and error, if the run belongs to another user."),
  output: jsonObject.optional().describe("Set if the run is `done`."),
  error: runError.optional(),
  duration_ms: z.int().optional(),
  worked_ms: z
    .int()
    .describe("`worked_ms` + `waited_ms` is the time from `created_at` to `completed_at`, or until now."),
  waited_ms: z
    .int()
    .describe("Time in the queue, and time in which the run and its sub-agents only waited for confirmations."),
  usage: runUsage.optional(),
  cost: z.number().optional().describe("Dollars charged to the caller so far."),
  earned: z.number().optional().describe("Dollars that you earned as the agent's creator from another user's run."),
  trace_id: z.string().optional().describe("Its trace at the operator's OpenTelemetry collector, if it is recorded."),
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

export const confirmationStatuses = ["pending", "approved", "denied", "expired"] as const;
export type ConfirmationStatus = (typeof confirmationStatuses)[number];

const namedAgent = z.object({ id: z.string(), name: z.string() });

export const confirmationRecord = z.object({
  id: z.string(),
  run_id: z.string(),
  agent: namedAgent.describe("The agent that asks, also if it is a sub-agent."),
  tool: z.string(),
  arguments: jsonObject.describe("The arguments of the call."),
  details: jsonObject.optional().describe("Consequences, as far as the tool knows them."),
  status: z.enum(confirmationStatuses),
  reason: z.string().optional(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  resolved_at: z.iso.datetime().optional(),
});
export type ConfirmationRecord = z.infer<typeof confirmationRecord>;

export const inboxConfirmation = confirmationRecord.extend({
  root_run_id: z.string().describe("The run that you started."),
  root_agent: namedAgent.describe("The agent of the root run."),
});
export type InboxConfirmation = z.infer<typeof inboxConfirmation>;
