import type { MissedPolicy, OverlapPolicy } from "@gantry/wire";
import type { Cron, CronTimes } from "../../engines/cron/cron.ts";
import { shownTimes } from "./schedule.ts";

/** A due time that is less late is on time: a restart, or a move to another node, loses none. */
export const onTimeMs = 5 * 60_000;
/** Runs of a schedule that may wait for each other. */
export const mostQueued = 100;

export interface DueSchedule extends CronTimes {
  missed: MissedPolicy;
  overlap: OverlapPolicy;
  /** Null if it is still to be found. */
  nextAt: Date | null;
  upcoming: readonly Date[];
  /** Runs of the schedule that are under way; counted up to `mostQueued`. */
  liveRuns: number;
}

export type DueDecision =
  | { kind: "find"; upcoming: Date[] }
  | { kind: "skip"; skippedAt: Date; reason: string; upcoming: Date[] }
  | { kind: "run"; dueAt: Date; upcoming: Date[] };

/**
 * What to do at a due time. `now` is the time of the database.
 *
 *     nextAt ──on time──► run ──► the next time after nextAt
 *        └─ late, skip ──► the next time that is on time
 *        └─ late, once ──► run for the latest time ──► the next time after it
 */
export function decideDue(schedule: DueSchedule, now: Date, cron: Cron): DueDecision {
  const { nextAt, missed } = schedule;
  if (nextAt === null) return { kind: "find", upcoming: cron.next(schedule, now, shownTimes) };
  const onTimeFrom = now.getTime() - onTimeMs;
  const isLate = nextAt.getTime() < onTimeFrom;
  if (isLate && missed === "skip") {
    const beforeWindow = new Date(onTimeFrom - 1);
    const skippedAt = cron.latest(schedule, beforeWindow) ?? nextAt;
    return {
      kind: "skip",
      skippedAt,
      reason: missedReason(nextAt, skippedAt),
      upcoming: cron.next(schedule, beforeWindow, shownTimes),
    };
  }
  const latest = isLate ? cron.latest(schedule, now) : undefined;
  const dueAt = latest && latest > nextAt ? latest : nextAt;
  const upcoming = timesAfter(schedule, dueAt, cron);
  const reason = overlapReason(schedule);
  return reason === undefined ? { kind: "run", dueAt, upcoming } : { kind: "skip", skippedAt: dueAt, reason, upcoming };
}

/** Why the runs under way do not allow another one, if they do not. */
export function overlapReason({ overlap, liveRuns }: Pick<DueSchedule, "overlap" | "liveRuns">): string | undefined {
  if (overlap === "skip" && liveRuns > 0) return "A run of this schedule was still under way.";
  if (liveRuns >= mostQueued) return `${mostQueued} runs of this schedule were already under way or waiting.`;
  return undefined;
}

/** Finds the next time again, because rules of time zones change, and keeps the known ones after it if it is the same. */
function timesAfter(schedule: DueSchedule, after: Date, cron: Cron): Date[] {
  const [next] = cron.next(schedule, after, 1);
  if (!next) return [];
  const known = schedule.upcoming.filter((time) => time > after);
  if (known[0]?.getTime() !== next.getTime()) return [next, ...cron.next(schedule, next, shownTimes - 1)];
  const last = known.at(-1) ?? next;
  return [...known, ...cron.next(schedule, last, shownTimes - known.length)];
}

function missedReason(first: Date, last: Date): string {
  const why = "Gantry was not running, or its clock was changed.";
  if (first.getTime() === last.getTime()) return `The due time was missed. ${why}`;
  return `The due times from ${first.toISOString()} to ${last.toISOString()} were missed. ${why}`;
}
