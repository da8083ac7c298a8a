import { createClaimLoop } from "../../kernel/claim-loop.ts";
import { repeat } from "../../kernel/repeat.ts";
import { mostQueued } from "./due.rules.ts";
import { type ClaimedSchedule, claimSchedules, forgetFutureTimes } from "./store.ts";
import { type DueDeps, workOnDue } from "./work-on-due.ts";

export interface Scheduler {
  /** Resolves when the due times that this node works on are handled. */
  stop(): Promise<void>;
}

export interface SchedulerTimes {
  /** How often the database is asked for due schedules. */
  everyMs: number;
  /** Another node takes a due time over after this time. */
  leaseMs: number;
}

const usualTimes: SchedulerTimes = { everyMs: 1_000, leaseMs: 30_000 };
/** Due times handled at once on a node, so that a full minute does not take all connections. */
const atOnce = 8;
/** Claimed and not handled yet. A claim sorts all that is due, so it takes many at a time. */
const mostClaimed = 64;
const clockCheckMs = 60_000;

/** Creates the runs of due schedules. Any number of nodes may run it. */
export function startScheduler(deps: DueDeps, { everyMs, leaseMs }: SchedulerTimes = usualTimes): Scheduler {
  const { database, log } = deps;
  const waiting: ClaimedSchedule[] = [];
  const running = new Set<Promise<void>>();
  let hasMore = false;

  const loop = createClaimLoop<ClaimedSchedule>({
    freeSlots() {
      const free = mostClaimed - waiting.length - running.size;
      return free < mostClaimed / 2 ? 0 : free;
    },
    atOnce: mostClaimed,
    async claim(slots) {
      const claimed = await claimSchedules(database.sql, { wanted: slots, leaseMs, mostLive: mostQueued });
      hasMore = claimed.length === slots;
      return claimed;
    },
    begin(claimed) {
      waiting.push(claimed);
      work();
    },
  });
  const look = () => loop.look();
  const complain = (error: unknown) => log.warn({ err: error }, "Failed to claim due schedules. Trying again.");

  function work(): void {
    while (running.size < atOnce) {
      const claimed = waiting.shift();
      if (!claimed) break;
      const done = workOnDue(deps, claimed)
        // The claim ends, and the due time is handled again.
        .catch((error) => log.warn({ err: error, schedule_id: claimed.id }, "Failed to handle a due schedule."))
        .finally(() => {
          running.delete(done);
          work();
          if (hasMore && !loop.isStopped) void look().catch(complain);
        });
      running.add(done);
    }
  }

  const looking = repeat(look, everyMs, complain);
  const checking = repeat(
    async () => {
      const count = await forgetFutureTimes(database.sql);
      if (count > 0) log.warn({ count }, "The clock was set back. The due times of schedules were found again.");
    },
    clockCheckMs,
    complain,
  );

  return {
    async stop() {
      await Promise.all([loop.stop(), looking.stop(), checking.stop()]);
      while (running.size > 0) await Promise.all(running);
    },
  };
}
