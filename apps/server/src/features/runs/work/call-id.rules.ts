import { createHash } from "node:crypto";
import type { StoredCall } from "../run.ts";

/**
 * What the events of one call have in common, so that its result is found among those of calls beside it. It is the same
 * over all claims of the run; `shown_call_id` of the database makes the same. A question is also told in the runs above, where it is the id of none of their calls.
 */
export function shownCallId(runId: string, { step, position }: Pick<StoredCall, "step" | "position">): string {
  return `call_${createHash("sha256").update(`${runId}-${step}-${position}`).digest("hex").slice(0, 12)}`;
}
