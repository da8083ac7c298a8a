import type { Database } from "../../engines/database/database.ts";
import type { Telemetry } from "../../engines/telemetry/telemetry.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import { Fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { type RunChange, type Written, writeRuns } from "./run-change.ts";

/** Writes what happened to a run. Does not give up while the database is away: what happened must be written down. */
export type WriteRun = (change: RunChange) => Promise<Written>;

/**
 * With so many runs side by side a write is worth waiting a moment for others: each takes a share of a commit instead of
 * one of its own (a sixth less CPU a run, measured with 32). A model takes hundreds of times as long for its answer.
 */
const manyRuns = 8;
const gatherMs = 2;
const firstPauseMs = 50;
const longestPauseMs = 2_000;

/** Group commit over all runs of this node; a write that is sent again is recognised by its number. */
export function createRunWriter(deps: {
  database: Database;
  log: Log;
  telemetry: Pick<Telemetry, "runEnded">;
  wakeWorkers(): void;
  /** How many runs this node works on. */
  underWay(): number;
}): WriteRun {
  const batcher = createBatcher<RunChange, Written>({
    maxItems: 128,
    gatherMs: () => (deps.underWay() >= manyRuns ? gatherMs : 0),
    blameItem: (error) => !(error instanceof Fault),
    run: async (changes) => {
      const answers = await writeRuns(deps.database.sql, changes);
      const byPlace = new Map(answers.map((answer) => [answer.n, answer]));
      if (answers.some((answer) => answer.wake)) deps.wakeWorkers();
      return changes.map((_, n) => {
        const answer = byPlace.get(n);
        if (!answer) throw new Error("a change of a run was not answered");
        return answer;
      });
    },
  });

  return async (change) => {
    for (let pause = firstPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
      try {
        const written = await batcher.add(change);
        if (written.written && change.end) deps.telemetry.runEnded(change.end.error?.type);
        return written;
      } catch (error) {
        if (!isPassing(error)) throw error;
        deps.log.warn({ run_id: change.id, err: error }, "A step of a run could not be written, trying again");
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  };
}

/** The database is away, or two transactions stood in each other's way. */
function isPassing(error: unknown): boolean {
  return error instanceof Fault || (error instanceof Error && "code" in error && /^40/.test(String(error.code)));
}
