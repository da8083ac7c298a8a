import type { Caller } from "../accounts/index.ts";
import type { RunsContext } from "./context.ts";
import { endUnheld, untilBelowEnded } from "./end-descendants.ts";
import { readOwnRun } from "./read-runs.ts";
import type { Run } from "./run.ts";
import { findRun, requestCancel } from "./store.ts";

const holderWaitMs = 3_000;

/**
 * Ends a run, after all that it started. What a node works on is stopped there; what waits is ended here. Answers the
 * run as it is then; cancelling what has ended changes nothing.
 */
export async function cancelRun(context: RunsContext, caller: Caller, id: string): Promise<Run> {
  const run = await readOwnRun(context, caller, id);
  if (isOver(run)) return run;
  await requestCancel(context.database, run.id);
  await untilBelowEnded(context, run.id);
  const present = (await findRun(context.database.sql, run.id)) ?? run;
  if (present.holder === null) await endUnheld(context, present);
  return (await context.news.untilEnded(run.id, holderWaitMs)) ?? run;
}

export function isOver({ status }: Pick<Run, "status">): boolean {
  return status === "done" || status === "error";
}
