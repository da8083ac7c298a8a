import type { Caller } from "../accounts/index.ts";
import type { RunsContext } from "./context.ts";
import { readOwnRun } from "./read-runs.ts";
import type { Run } from "./run.ts";
import { findRun, listLiveBelow, requestCancel } from "./store.ts";
import { cancelledError } from "./work-on-runs.ts";

const holderWaitMs = 3_000;

/**
 * Ends a run and all that it started. What a node works on is stopped there; what waits is ended here. Answers the run
 * as it is then; cancelling what has ended changes nothing.
 */
export async function cancelRun(context: RunsContext, caller: Caller, id: string): Promise<Run> {
  const run = await readOwnRun(context, caller, id);
  if (isOver(run)) return run;
  await requestCancel(context.database, run.id);
  for (const one of await listLiveBelow(context.database.sql, run.id)) {
    if (one.holder === null) await endUnheld(context, one);
  }
  const present = (await findRun(context.database.sql, run.id)) ?? run;
  if (present.holder === null) await endUnheld(context, present);
  return (await context.news.untilEnded(run.id, holderWaitMs)) ?? run;
}

export function isOver({ status }: Pick<Run, "status">): boolean {
  return status === "done" || status === "error";
}

/** A worker may take it in this moment: then nothing is written, and the worker ends it. */
async function endUnheld({ write }: RunsContext, run: Pick<Run, "id" | "claim" | "writes">): Promise<void> {
  await write({
    id: run.id,
    claim: run.claim,
    holder: null,
    seq: run.writes,
    events: [{ type: "error", data: { ...cancelledError } }],
    end: { status: "error", error: cancelledError, told: "The agent's run was cancelled", told_error: true },
  });
}
