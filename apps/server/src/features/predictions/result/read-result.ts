import type { Database } from "../../../engines/database/database.ts";
import { fault } from "../../../kernel/errors.ts";
import { type EndedPrediction, findEnd, type PredictionAddress } from "../store.ts";
import type { EndedNotices } from "./prediction-feed.ts";
import { type LinkOf, pendingItem, type ResultItem, resultItem } from "./result-item.ts";

/** Readers look for themselves this often, in case a notice was lost. */
const lookAgainMs = 1_000;

export interface ResultDeps {
  database: Database;
  notices: EndedNotices;
  linkOf: LinkOf;
}

/**
 * The ended prediction, or undefined while it is live after the time, or when this node goes down; one that never was is
 * not found.
 */
export async function awaitEnd(
  { database, notices }: Pick<ResultDeps, "database" | "notices">,
  address: PredictionAddress,
  waitMs: number,
  signal: AbortSignal,
): Promise<EndedPrediction | undefined> {
  const until = performance.now() + waitMs;
  const watch = notices.watch(address.id);
  try {
    for (;;) {
      const ended = await findEnd(database.sql, address);
      if (ended === undefined) throw fault("not_found", "Prediction not found");
      if (ended !== "live") return ended;
      const left = until - performance.now();
      if (left <= 0 || signal.aborted || notices.isReleased) return undefined;
      await watch.next(Math.min(left, lookAgainMs));
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
