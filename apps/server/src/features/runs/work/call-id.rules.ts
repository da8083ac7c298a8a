import { createHash } from "node:crypto";
import type { Run, StoredCall } from "../run.ts";

/**
 * What the events of one call have in common, so that its result is found among those of calls beside it. It is the same
 * over all claims of the run. A question is also told in the runs above, where it is the id of none of their calls.
 */
export function shownCallId(runId: string, { step, position }: Pick<StoredCall, "step" | "position">): string {
  return `call_${createHash("sha256").update(`${runId}-${step}-${position}`).digest("hex").slice(0, 12)}`;
}

/** The call that a run was started by; undefined for one that a person started. */
export function parentCallOf({
  ancestors,
  parentStep: step,
  parentPosition: position,
}: Pick<Run, "ancestors" | "parentStep" | "parentPosition">): { run_id: string; shown_id: string } | undefined {
  const parentId = ancestors.at(-1);
  if (parentId === undefined || step === null || position === null) return undefined;
  return { run_id: parentId, shown_id: shownCallId(parentId, { step, position }) };
}
