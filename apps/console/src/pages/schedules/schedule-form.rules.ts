import type { CreateScheduleBody, ScheduleRecord } from "@gantry/sdk";

/** A schedule as it is entered, without its input. */
export interface EnteredSchedule {
  name: string;
  cron: string;
  timezone: string;
  missed: ScheduleRecord["missed"];
  overlap: ScheduleRecord["overlap"];
  maxCost: string;
  /** Tools, one per line. */
  approve: string;
  thread: string;
}

export const newSchedule = (timezone: string): EnteredSchedule => ({
  name: "",
  cron: "0 9 * * MON-FRI",
  timezone,
  missed: "skip",
  overlap: "skip",
  maxCost: "",
  approve: "",
  thread: "",
});

export const enteredOf = (schedule: ScheduleRecord): EnteredSchedule => ({
  name: schedule.name ?? "",
  cron: schedule.cron,
  timezone: schedule.timezone,
  missed: schedule.missed,
  overlap: schedule.overlap,
  maxCost: schedule.max_cost === null ? "" : String(schedule.max_cost),
  approve: schedule.approve.join("\n"),
  thread: schedule.thread_id ?? "",
});

/** Empty fields are null, so that a change removes them. */
export function scheduleBody(entered: EnteredSchedule) {
  const { name, cron, timezone, missed, overlap, maxCost, approve, thread } = entered;
  return {
    name: name.trim() || null,
    cron: cron.trim(),
    timezone,
    missed,
    overlap,
    max_cost: maxCost.trim() === "" ? null : Number(maxCost),
    approve: linesOf(approve),
    thread_id: thread.trim() || null,
  } satisfies Partial<CreateScheduleBody>;
}

export const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** Undefined: the text is a number or empty. */
export const costFault = (text: string): string | undefined =>
  Number.isFinite(Number(text)) && Number(text) >= 0 ? undefined : "Must be a number";
