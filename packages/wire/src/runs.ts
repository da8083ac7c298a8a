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

const toolName = z.string().min(1).max(128);

export const createRunBody = z.strictObject({
  input: jsonObject,
  revision_id: z.string().min(1).max(100).optional(),
  /** Dollars that the run, and all that it starts, may cost. */
  max_cost: dollars.optional(),
  /** Of active time. */
  timeout_seconds: z.number().min(1).max(86_400).default(900),
  max_steps: z.int().min(1).max(1000).default(50),
  /** How long the answer waits for the end of the run, or for its question. */
  wait: z.number().min(0).max(60).optional(),
  /** Tools that may write without asking. */
  approve: z.array(toolName).max(200).optional(),
  /** What of the caller's own another's agent may use. */
  connectors: z
    .array(z.enum(["idp"]))
    .max(10)
    .optional(),
});
/** As it is sent. */
export type CreateRunBody = z.input<typeof createRunBody>;
/** As it is read: with what was left out. */
export type ReadRunBody = z.output<typeof createRunBody>;

export const answerConfirmationBody = z.strictObject({
  approve: z.boolean(),
  reason: z.string().max(2000).optional(),
});

export const runError = z.object({ type: z.enum(runErrorTypes), message: z.string() });

export const runRecord = z.object({
  id: z.string(),
  agent_id: z.string(),
  revision_id: z.string(),
  status: z.enum(runStatuses),
  phase: z.enum(runPhases),
  parent_run_id: z.string().nullable(),
  /** Left out, like output and error, where the run is another user's. */
  input: jsonObject.optional(),
  output: jsonObject.optional(),
  error: runError.optional(),
  duration_ms: z.int().optional(),
  usage: z.object({ input_tokens: z.int(), output_tokens: z.int(), cached_tokens: z.int() }).optional(),
  /** Dollars that the caller paid so far. */
  cost: z.number().optional(),
  /** Dollars that the agent's creator got for it; on another user's run. */
  earned: z.number().optional(),
  created_at: z.string(),
  completed_at: z.string().optional(),
});
export type RunRecord = z.infer<typeof runRecord>;

/** A secret that a tool made in a run, such as a client's new one. */
export const runSecretRecord = z.object({ id: z.string(), field: z.string(), value: z.string() });
export type RunSecretRecord = z.infer<typeof runSecretRecord>;

export const confirmationRecord = z.object({
  id: z.string(),
  run_id: z.string(),
  tool: z.string(),
  arguments: jsonObject,
  details: jsonObject.optional(),
  status: z.enum(["pending", "approved", "denied", "expired"]),
  reason: z.string().optional(),
  created_at: z.string(),
  expires_at: z.string(),
  resolved_at: z.string().optional(),
});
export type ConfirmationRecord = z.infer<typeof confirmationRecord>;
