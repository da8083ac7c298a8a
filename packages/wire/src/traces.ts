import { z } from "zod";
import { confirmationRecord, runPhases, runStatuses, runUsage } from "./runs.ts";

const jsonObject = z.record(z.string(), z.unknown());
const milliseconds = z.int().min(0);

/** Largest number of steps in a trace, and of characters in a summary. */
export const mostTraceSteps = 2_000;
export const mostSummaryCharacters = 200;

export const traceStepKinds = ["queue", "model", "tool", "agent", "wait"] as const;
export type TraceStepKind = (typeof traceStepKinds)[number];

export const traceStepStatuses = ["waiting", "running", "done", "error", "denied", "cancelled"] as const;
export type TraceStepStatus = (typeof traceStepStatuses)[number];

export const tracePurposes = ["planning", "working", "formatting", "compressing"] as const;
export type TracePurpose = (typeof tracePurposes)[number];

export const traceUsage = runUsage.describe("Tokens of a model call, or of all model calls of a sub-agent.");

export const traceStep = z.object({
  id: z.string(),
  parent_id: z.string().nullable().describe("The `agent` step that started the run of this step."),
  run_id: z.string(),
  kind: z.enum(traceStepKinds),
  name: z.string().describe("The model, the tool, the sub-agent, or what the run waited for."),
  purpose: z.enum(tracePurposes).optional().describe("Of model calls."),
  status: z.enum(traceStepStatuses),
  started_at: z.iso.datetime().nullable(),
  ended_at: z.iso.datetime().nullable(),
  duration_ms: milliseconds.nullable().describe("Null while the step has not ended, or if its start is not known."),
  queued_ms: milliseconds.optional().describe("Of model calls: time in the queue of the model, part of `duration_ms`."),
  first_token_ms: milliseconds.optional().describe("Of model calls: from the start of the step to the first token."),
  usage: traceUsage.optional(),
  cost: z.number().optional().describe("Dollars charged to the caller."),
  prediction_id: z.string().optional(),
  call_id: z.string().optional().describe("As in the events of the run."),
  child_run_id: z.string().optional(),
  confirmation_id: z.string().optional(),
  summary: z.string().nullable().describe(`The first ${mostSummaryCharacters} characters of the text or result.`),
});
export type TraceStep = z.infer<typeof traceStep>;

export const traceAgent = z.object({ id: z.string(), name: z.string(), slug: z.string().nullable() });
export type TraceAgent = z.infer<typeof traceAgent>;

export const runTrace = z.object({
  run_id: z.string(),
  root_run_id: z.string(),
  agent: traceAgent,
  status: z.enum(runStatuses),
  phase: z.enum(runPhases),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  completed_at: z.iso.datetime().nullable(),
  worked_ms: milliseconds.describe("`worked_ms` + `waited_ms` is the time from creation to the end, or until now."),
  waited_ms: milliseconds.describe(
    "Time in the queue, and time in which the run and its sub-agents only waited for confirmations.",
  ),
  usage: runUsage,
  cost: z.number().describe("Dollars charged to the caller so far, sub-agents included."),
  steps: z.array(traceStep).describe("Steps of the run and its descendants, by start."),
  truncated: z.boolean().describe(`Whether steps are missing because there are more than ${mostTraceSteps}.`),
});
export type RunTrace = z.infer<typeof runTrace>;

export const traceToolCall = z.object({
  call_id: z.string(),
  tool: z.string(),
  arguments: jsonObject.optional().describe("As events show them: secrets are masked."),
});
export type TraceToolCall = z.infer<typeof traceToolCall>;

export const traceMessage = z.object({
  role: z.enum(["system", "user", "assistant", "tool"]),
  content: z.string(),
  tool_calls: z.array(traceToolCall).optional(),
  tool: z.string().optional().describe("Of a result."),
  call_id: z.string().optional().describe("Of a result."),
});
export type TraceMessage = z.infer<typeof traceMessage>;

export const traceAnswer = z.object({
  text: z
    .string()
    .nullable()
    .describe("Null if the agent belongs to another user and its events do not show the text."),
  reasoning: z.string().optional(),
  tool_calls: z.array(traceToolCall).optional(),
  cut_at_tokens: z.int().optional().describe("Set if the answer was cut off."),
});
export type TraceAnswer = z.infer<typeof traceAnswer>;

export const traceStepDetail = traceStep.extend({
  messages: z
    .array(traceMessage)
    .optional()
    .describe("What the model was sent. Only for the creator of the agent; long texts are shortened."),
  omitted_messages: z.int().optional().describe("Older messages that are left out because there is too much text."),
  message: traceAnswer.optional(),
  arguments: jsonObject.optional(),
  result: z.string().optional(),
  is_error: z.boolean().optional(),
  confirmation: confirmationRecord.optional(),
});
export type TraceStepDetail = z.infer<typeof traceStepDetail>;

/** A frame of `GET /v1/runs/{run_id}/events?text=true`: text as the model writes it. Frames have no id and may be lost. */
export const runText = z.object({
  step: z.int().describe("The number of the model call in the run."),
  call_id: z.string().describe("The `id` of the step in the trace. A retry has another one and begins again."),
  kind: z.enum(["text", "reasoning"]),
  text: z.string(),
  offset: z.int().optional().describe("Characters of this kind that the call wrote before. A gap means lost text."),
});
export type RunText = z.infer<typeof runText>;
