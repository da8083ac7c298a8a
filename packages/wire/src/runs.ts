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

/** What the caller of another user's agent can let it use. */
export const runLeaves = ["idp", "models", "files"] as const;
export type RunLeave = (typeof runLeaves)[number];

const toolName = z.string().min(1).max(128);

export const createRunBody = z.strictObject({
  input: jsonObject.describe("Must satisfy the agent's `input_schema`."),
  revision_id: z.string().min(1).max(100).optional().describe("Of your own agent; left out: the published one."),
  expected_price: dollars
    .optional()
    .describe(
      "The agent's `per_run` that you were shown. If the price has changed, the answer is 409 with the new one.",
    ),
  max_cost: dollars.optional().describe("Dollars that the run, and all that it starts, may cost."),
  timeout_seconds: z
    .number()
    .min(1)
    .max(86_400)
    .default(900)
    .describe("Of active time: waiting for a confirmation does not count."),
  max_steps: z.int().min(1).max(1000).default(50).describe("Calls of the model."),
  wait: z
    .number()
    .min(0)
    .max(60)
    .optional()
    .describe("Seconds that the answer waits for the end of the run, or for its question; left out: it comes at once."),
  approve: z.array(toolName).max(200).optional().describe("Tools that may write without asking."),
  connectors: z
    .array(z.enum(runLeaves))
    .max(10)
    .optional()
    .describe(
      "What of your own another user's agent may use: your identity connector (`idp`), your private models (`models`), your stored files by their `s3://` addresses (`files`). Left out: none of them.",
    ),
});
/** As it is sent. */
export type CreateRunBody = z.input<typeof createRunBody>;
/** As it is read: with what was left out. */
export type ReadRunBody = z.output<typeof createRunBody>;

export const answerConfirmationBody = z.strictObject({
  approve: z.boolean(),
  reason: z.string().max(2000).optional().describe("Told to the model."),
});

export const runError = z.object({
  type: z.enum(runErrorTypes),
  message: z.string().describe("For people; may change."),
});

export const runUsage = z
  .object({ input_tokens: z.int(), output_tokens: z.int(), cached_tokens: z.int(), cache_write_tokens: z.int() })
  .describe("Of all calls of the model so far.");

export const runRecord = z.object({
  id: z.string(),
  agent_id: z.string(),
  revision_id: z.string(),
  status: z.enum(runStatuses),
  phase: z.enum(runPhases).describe("What it is doing; in `awaiting_confirmation` it waits for an answer of yours."),
  parent_run_id: z.string().nullable().describe("The run that started it as a tool."),
  input: jsonObject.optional().describe("Left out, like output and error, where the run is another user's."),
  output: jsonObject.optional().describe("Of a run that is `done`."),
  error: runError.optional(),
  duration_ms: z.int().optional(),
  usage: runUsage.optional(),
  cost: z.number().optional().describe("Dollars that the caller paid so far."),
  earned: z.number().optional().describe("Dollars that the agent's creator got for it; on another user's run."),
  created_at: z.iso.datetime(),
  completed_at: z.iso.datetime().optional(),
});
export type RunRecord = z.infer<typeof runRecord>;

/** A secret that a tool made in a run, such as a client's new one. */
export const runSecretRecord = z.object({
  id: z.string(),
  field: z.string().describe("Where it stood in what the tool answered."),
  value: z.string(),
});
export type RunSecretRecord = z.infer<typeof runSecretRecord>;

export const confirmationRecord = z.object({
  id: z.string(),
  run_id: z.string(),
  tool: z.string(),
  arguments: jsonObject.describe("What the tool is going to be called with."),
  details: jsonObject.optional().describe("What the tool knows of the consequences."),
  status: z.enum(["pending", "approved", "denied", "expired"]),
  reason: z.string().optional(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  resolved_at: z.iso.datetime().optional(),
});
export type ConfirmationRecord = z.infer<typeof confirmationRecord>;
