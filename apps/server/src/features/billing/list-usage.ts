import type { Database } from "../../engines/database/database.ts";
import type { Scope } from "../accounts/index.ts";
import { type PageRange, readTimedPage, type TimedPage } from "./read-timed-page.ts";
import { spanOf, type TimeRange, withinRows } from "./time-cut.rules.ts";
import { readFromOneSnapshot, selectMarks } from "./time-store.ts";
import { countUsage, selectUsage, selectUsageAfter, type UsageRow, usageOf } from "./usage-store.ts";

export type UsagePage = TimedPage<UsageRow>;

const exportedAtOnce = 1_000;

/** A page of a user's ended predictions, or of those that one key started. */
export function listUsage(database: Database, scope: Scope, range: TimeRange, page: PageRange): Promise<UsagePage> {
  if (scope.onlyKeyId !== null) return listUsageOfKey(database, scope, range, page);
  return readTimedPage(database, usageOf(scope.userId), range, page, {
    select: (sql, span, rest) => selectUsage(sql, scope, span, rest),
    within: withinRows,
  });
}

/** There are sums for users only: what one key used is counted row by row. */
function listUsageOfKey(database: Database, scope: Scope, range: TimeRange, page: PageRange): Promise<UsagePage> {
  return database.transaction(async (tx) => {
    const [, marks] = await Promise.all([readFromOneSnapshot(tx), selectMarks(tx, scope.userId)]);
    const span = withinRows(spanOf(range, marks.now), marks);
    return { entries: await selectUsage(tx, scope, span, page), total: await countUsage(tx, scope, span) };
  });
}

/**
 * All rows of a range, in portions, each read when the one before has been taken. No transaction stays open for a
 * client that reads slowly: what ends after the call is not among it, and what is there does not change.
 */
export async function exportUsage(
  database: Database,
  scope: Scope,
  range: TimeRange,
): Promise<AsyncIterable<UsageRow[]>> {
  const marks = await selectMarks(database.sql, scope.userId);
  const asked = withinRows(spanOf(range, marks.now), marks);
  const span = { from: asked.from, to: Math.min(asked.to, marks.now + 1) };
  // The first portion is read here, so that a database that is away is an error and not a file that ends early.
  const first = await selectUsage(database.sql, scope, span, { limit: exportedAtOnce, offset: 0 });

  async function* portions(): AsyncGenerator<UsageRow[]> {
    let portion = first;
    while (portion.length > 0) {
      yield portion;
      const last = portion.at(-1);
      if (!last || portion.length < exportedAtOnce) return;
      portion = await selectUsageAfter(database.sql, scope, span.from, last, exportedAtOnce);
    }
  }
  return portions();
}
