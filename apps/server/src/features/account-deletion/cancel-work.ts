import { everythingOf } from "../accounts/index.ts";
import type { DeletionDeps } from "./account.ts";
import { selectLivePredictions, selectOpenBatches } from "./work-store.ts";

/** Cancels some of the account's own work. What ends in this moment cannot be cancelled, and is not live afterwards. */
export async function cancelWork(
  { database, batches, runs, predictions }: DeletionDeps,
  userId: string,
): Promise<void> {
  const { sql } = database;
  const scope = everythingOf(userId);
  const open = await selectOpenBatches(sql, userId);
  await Promise.allSettled(open.map((id) => batches.cancel(scope, id)));
  await runs.cancelSomeOf(userId);
  const live = await selectLivePredictions(sql, userId);
  await Promise.allSettled(live.map((one) => predictions.cancel({ ...scope, ...one })));
}
