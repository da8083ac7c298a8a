import { z } from "zod";
import { dollars } from "./dollars.ts";
import { oneOf, someChange } from "./field-schema.ts";
import { onlyParameters, page, searchTextIfAny } from "./query-schema.ts";
import { runLeaves } from "./runs.ts";

/** What happens to due times that passed while no node was running. */
export const missedPolicies = ["skip", "once"] as const;
export type MissedPolicy = (typeof missedPolicies)[number];

/** What happens at a due time while the schedule's previous run is under way. */
export const overlapPolicies = ["skip", "queue"] as const;
export type OverlapPolicy = (typeof overlapPolicies)[number];

export const scheduleStatuses = ["active", "disabled", "paused"] as const;
export type ScheduleStatus = (typeof scheduleStatuses)[number];

const jsonObject = z.record(z.string(), z.unknown());

const fields = {
  name: z
    .string()
    .max(100)
    .regex(/^(?=.*\S)\P{Cc}+$/u, "Must be one line of text, not blank and without control characters")
    .nullable()
    .describe("For people. One line of text."),
  cron: z
    .string()
    .min(1)
    .max(200)
    .describe(
      "When to run: minute, hour, day of the month, month, day of the week, as in `0 9 * * MON-FRI`. At most once a minute.",
    ),
  timezone: z.string().min(1).max(64).describe("The time zone of `cron`, as in `Europe/Berlin`."),
  input: jsonObject.describe("Must satisfy the agent's `input_schema`."),
  missed: oneOf(missedPolicies).describe(
    "Due times that are more than 5 minutes late, because no node was running: skip them, or make up for all of them with one run.",
  ),
  overlap: oneOf(overlapPolicies).describe(
    "A due time while a run of the schedule is under way: skip it, or start its run after that one.",
  ),
  enabled: z.boolean().describe("A disabled schedule creates no runs. `true` also ends a pause."),
  max_cost: dollars.nullable().describe("Dollars that each run and its descendants may cost; null: no limit."),
  approve: z.array(z.string().min(1).max(128)).max(200).describe("Tools that may write without confirmation."),
  connectors: z
    .array(z.enum(runLeaves))
    .max(10)
    .describe("Your resources that another user's agent may use, as in the creation of a run."),
  thread_id: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/,
      "Must have 1 to 100 characters: letters, digits, and . _ : - after the first",
    )
    .nullable()
    .describe("The thread that all runs of the schedule continue; null: each run starts without earlier turns."),
  expected_price: dollars
    .nullable()
    .describe(
      "The agent's `per_run` that you expect. If the price changes, the schedule pauses. Left out at creation: the present price of another user's agent. null: any price.",
    ),
};

export const createScheduleBody = z.strictObject({
  ...fields,
  name: fields.name.optional(),
  timezone: fields.timezone.default("UTC"),
  missed: fields.missed.default("skip"),
  overlap: fields.overlap.default("skip"),
  enabled: fields.enabled.default(true),
  max_cost: fields.max_cost.optional(),
  approve: fields.approve.optional(),
  connectors: fields.connectors.optional(),
  thread_id: fields.thread_id.optional(),
  expected_price: fields.expected_price.optional(),
});
export type CreateScheduleBody = z.input<typeof createScheduleBody>;
/** With defaults. */
export type ReadScheduleBody = z.output<typeof createScheduleBody>;

export const changeScheduleBody = z
  .strictObject(fields)
  .partial()
  .refine(...someChange);
export type ChangeScheduleBody = z.infer<typeof changeScheduleBody>;

export const scheduleRecord = z.object({
  id: z.string(),
  agent_id: z.string(),
  agent_name: z.string(),
  name: z.string().nullable(),
  cron: z.string(),
  timezone: z.string(),
  input: jsonObject,
  missed: z.enum(missedPolicies),
  overlap: z.enum(overlapPolicies),
  enabled: z.boolean(),
  max_cost: z.number().nullable(),
  approve: z.array(z.string()),
  connectors: z.array(z.enum(runLeaves)),
  thread_id: z.string().nullable(),
  expected_price: z.number().nullable(),
  status: z
    .enum(scheduleStatuses)
    .describe("`disabled` by you, or `paused` by Gantry: see `paused_reason`. Only an active schedule creates runs."),
  paused_reason: z.string().nullable().describe("Why the schedule is paused, and what to do."),
  next_times: z.array(z.iso.datetime()).describe("The next due times, at most 5. Empty unless the schedule is active."),
  last_due_at: z.iso.datetime().nullable().describe("The last due time that created a run."),
  last_run_id: z.string().nullable().describe("The last run, also one that you started with `run`."),
  last_skipped_at: z.iso.datetime().nullable().describe("The last due time that created no run."),
  skipped_reason: z.string().nullable().describe("Why that due time created no run."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type ScheduleRecord = z.infer<typeof scheduleRecord>;

export const schedulesQuery = onlyParameters({
  ...page(),
  agent_id: searchTextIfAny.describe("Only schedules of this agent."),
});
