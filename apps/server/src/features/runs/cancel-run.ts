import type { Caller } from "../accounts/index.ts";
import type { RunsContext } from "./context.ts";
import { readOwnRun } from "./read-runs.ts";
import type { Run } from "./run.ts";
import {
  findRun,
  hasLiveDescendants,
  listEndingDescendants,
  listLiveRoots,
  requestCancel,
  requestCancelOfDescendants,
} from "./store.ts";
import { cancelledError } from "./work-on-runs.ts";

type EndDeps = Pick<RunsContext, "database" | "feed" | "write">;

const cancelledAtOnce = 20;

/** How long to wait for a node to end its run. Live nodes take a fraction of this. */
const nodeWaitMs = 3_000;

/** Cancels a run after its descendants. Nodes stop their claimed runs; the others end here. */
export async function cancelRun(context: RunsContext, caller: Caller, id: string): Promise<Run> {
  const run = await readOwnRun(context, caller, id);
  if (run.status === "done" || run.status === "error") return run;
  return endRun(context, run);
}

/** Cancels runs of an account that is being deleted, a few at a time. */
export async function cancelSomeRunsOf(context: RunsContext, userId: string): Promise<void> {
  const runs = await listLiveRoots(context.database.sql, userId, cancelledAtOnce);
  await Promise.all(runs.map((run) => endRun(context, run)));
}

async function endRun(context: RunsContext, run: Run): Promise<Run> {
  await requestCancel(context.database, run.id);
  await untilDescendantsEnded(context, run.id);
  const current = (await findRun(context.database.sql, run.id)) ?? run;
  if (current.holder === null) await endUnclaimed(context, current);
  return (await context.feed.untilEnded(run.id, nodeWaitMs)) ?? run;
}

/** Ends the descendants of a run before the run itself ends under this claim. */
export async function endDescendants(deps: EndDeps, run: Pick<Run, "id" | "claim">): Promise<void> {
  if (!(await hasLiveDescendants(deps.database.sql, run.id))) return;
  if (await requestCancelOfDescendants(deps.database, run)) await untilDescendantsEnded(deps, run.id);
}

/** Ends cancelled descendants, leaves first, so that the run includes their charges. Gives up after a time. */
async function untilDescendantsEnded(deps: EndDeps, runId: string): Promise<void> {
  for (const until = performance.now() + nodeWaitMs; ; ) {
    const ending = await listEndingDescendants(deps.database.sql, runId);
    const leftMs = until - performance.now();
    if (ending.length === 0 || leftMs <= 0) return;
    const leaves = ending.filter(({ id }) => !ending.some(({ ancestors }) => ancestors.includes(id)));
    for (const run of leaves) if (run.holder === null) await endUnclaimed(deps, run);
    const claimed = leaves.find(({ holder }) => holder !== null);
    if (claimed) await deps.feed.untilEnded(claimed.id, leftMs);
  }
}

/** Has no effect if a worker claims the run in this moment: then the worker ends it. */
async function endUnclaimed(
  { write }: Pick<RunsContext, "write">,
  { id, ancestors, claim, writes }: Pick<Run, "id" | "ancestors" | "claim" | "writes">,
): Promise<void> {
  await write({
    id,
    ancestors,
    claim,
    holder: null,
    seq: writes,
    events: [{ type: "error", data: { ...cancelledError } }],
    end: { status: "error", error: cancelledError, told: "The agent's run was cancelled", told_error: true },
  });
}
