import { z } from "zod";
import { confirmationRecord, runError } from "./runs.ts";

const jsonObject = z.record(z.string(), z.unknown());
const message = z.object({ message: z.string() });
const ofCall = {
  call_id: z.string().optional().describe("The call that the event belongs to. Older runs have no call ids."),
};

/** Fields of events by type. */
const runEventData = {
  planning: message,
  reasoning: message,
  tool_call: z.object({ tool: z.string(), arguments: jsonObject, ...ofCall }),
  /** Calls run in parallel: results come in the order in which they finish. */
  tool_result: z.object({ tool: z.string(), result: z.string(), ...ofCall }),
  confirmation_required: z.object({
    confirmation_id: z.string(),
    tool: z.string(),
    arguments: jsonObject,
    expires_at: z.iso.datetime(),
    details: jsonObject.optional(),
    ...ofCall,
  }),
  confirmation_resolved: z.object({
    confirmation_id: z.string(),
    approved: z.boolean(),
    status: confirmationRecord.shape.status,
    tool: z.string(),
    reason: z.string().nullable(),
  }),
  compressed: z.looseObject({ message: z.string() }),
  completed: z.object({ output: jsonObject }),
  error: runError,
};
export type RunEventData = { [Type in keyof typeof runEventData]: z.infer<(typeof runEventData)[Type]> };

const entry = <Type extends string, Shape extends z.core.$ZodShape>(type: Type, { shape }: { shape: Shape }) =>
  z.object({ type: z.literal(type), timestamp: z.iso.datetime(), ...shape });

export const runEventEntries = {
  planning: entry("planning", runEventData.planning),
  reasoning: entry("reasoning", runEventData.reasoning),
  tool_call: entry("tool_call", runEventData.tool_call),
  tool_result: entry("tool_result", runEventData.tool_result),
  confirmation_required: entry("confirmation_required", runEventData.confirmation_required),
  confirmation_resolved: entry("confirmation_resolved", runEventData.confirmation_resolved),
  compressed: entry("compressed", runEventData.compressed).loose(),
  // The last event of a list has a summary instead of the output.
  completed: entry("completed", message),
  error: entry("error", z.object({ error: runError })),
};

export const runEventEntry = z.discriminatedUnion("type", [
  runEventEntries.planning,
  runEventEntries.reasoning,
  runEventEntries.tool_call,
  runEventEntries.tool_result,
  runEventEntries.confirmation_required,
  runEventEntries.confirmation_resolved,
  runEventEntries.compressed,
  runEventEntries.completed,
  runEventEntries.error,
]);

export type RunEventEntry = z.infer<typeof runEventEntry>;

export const runEventList = z.object({
  events: z.array(runEventEntry),
  next_after: z.int().optional().describe("Pass it as `after` to read more events. Omitted at the end."),
});
export type RunEventList = z.infer<typeof runEventList>;
