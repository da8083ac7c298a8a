import type { Database } from "../../../engines/database/database.ts";
import { fault } from "../../../kernel/errors.ts";
import { type EndedPrediction, findEnd, type PredictionAddress } from "../store.ts";
import type { PredictionFeed } from "./prediction-feed.ts";
import { type LinkOf, pendingItem, type ResultItem, resultItem } from "./result-item.ts";

/** Readers query at this interval, in case a notification was lost. */
const pollMs = 1_000;

export interface ResultDeps {
  database: Database;
  feed: PredictionFeed;
  linkOf: LinkOf;
}

/** Undefined if the prediction is still live after the time, or if this node shuts down. */
export async function awaitEnd(
  { database, feed }: Pick<ResultDeps, "database" | "feed">,
  address: PredictionAddress,
  waitMs: number,
  signal: AbortSignal,
): Promise<EndedPrediction | undefined> {
  const until = performance.now() + waitMs;
  const watch = feed.watch(address.id);
  try {
    for (;;) {
      const ended = await findEnd(database.sql, address);
      if (ended === undefined) throw fault("not_found", "Prediction not found");
      if (ended !== "live") return ended;
      const left = until - performance.now();
      if (left <= 0 || signal.aborted || feed.isReleased) return undefined;
      await watch.next(Math.min(left, pollMs));
    }
  } finally {
    watch.stop();
  }
}

export async function readResult(
  deps: ResultDeps,
  address: PredictionAddress,
  { waitMs, base, signal }: { waitMs: number; base: string; signal: AbortSignal },
): Promise<ResultItem> {
  const ended = await awaitEnd(deps, address, waitMs, signal);
  return ended ? resultItem(ended, base, deps.linkOf) : pendingItem(address.id, address.userId);
}
