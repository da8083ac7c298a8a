import type { Caller } from "../accounts/index.ts";
import type { RunsContext } from "./context.ts";
import { readOwnRun } from "./read-runs.ts";
import type { Run } from "./run.ts";
import { findRun, isAnyLiveBelow, listEndingBelow, requestCancel, requestCancelBelow } from "./store.ts";
import { cancelledError } from "./work-on-runs.ts";

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

type EndDeps = Pick<RunsContext, "database" | "news" | "write">;

/** For a node that works on one of them. It takes a fraction of that, unless it is dead: then nothing more is paid. */
const holdersWaitMs = 3_000;

/** Ends all that a run has started before the run itself is ended by who works on it under this claim. */
export async function endDescendants(deps: EndDeps, run: Pick<Run, "id" | "claim">): Promise<void> {
  if (!(await isAnyLiveBelow(deps.database.sql, run.id))) return;
  if (await requestCancelBelow(deps.database, run)) await untilBelowEnded(deps, run.id);
}

/**
 * Resolves when everything below a run has ended whose end was asked for, so that what it cost stands in the run; or when
 * somebody takes too long. What a node works on is stopped there, what waits is ended here, each after what is below it.
 */
export async function untilBelowEnded(deps: EndDeps, runId: string): Promise<void> {
  for (const until = performance.now() + holdersWaitMs; ; ) {
    const ending = await listEndingBelow(deps.database.sql, runId);
    const leftMs = until - performance.now();
    if (ending.length === 0 || leftMs <= 0) return;
    const lowest = ending.filter(({ id }) => !ending.some(({ ancestors }) => ancestors.includes(id)));
    for (const one of lowest) if (one.holder === null) await endUnheld(deps, one);
    const held = lowest.find(({ holder }) => holder !== null);
    if (held) await deps.news.untilEnded(held.id, leftMs);
  }
}

/** A worker may take it in this moment: then nothing is written, and the worker ends it. */
export async function endUnheld(
  { write }: Pick<RunsContext, "write">,
  run: Pick<Run, "id" | "ancestors" | "claim" | "writes">,
): Promise<void> {
  await write({
    id: run.id,
    ancestors: run.ancestors,
    claim: run.claim,
    holder: null,
    seq: run.writes,
    events: [{ type: "error", data: { ...cancelledError } }],
    end: { status: "error", error: cancelledError, told: "The agent's run was cancelled", told_error: true },
  });
}
