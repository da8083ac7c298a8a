import type { Database } from "../../engines/database/database.ts";
import { type PageRange, readTimedPage, type TimedPage } from "./read-timed-page.ts";
import { spanOf, type TimeRange, withinRows } from "./time-cut.rules.ts";
import { selectMarks } from "./time-store.ts";
import { selectUsage, selectUsageAfter, type UsageRow, usageOf } from "./usage-store.ts";

export type UsagePage = TimedPage<UsageRow>;

const exportedAtOnce = 1_000;

/** A page of a user's ended predictions. */
export function listUsage(database: Database, userId: string, range: TimeRange, page: PageRange): Promise<UsagePage> {
  return readTimedPage(database, usageOf(userId), range, page, { select: selectUsage, within: withinRows });
}

/**
 * All rows of a range, in portions, each read when the one before has been taken. No transaction stays open for a
 * client that reads slowly: what ends after the call is not among it, and what is there does not change.
 */
export async function exportUsage(
  database: Database,
  userId: string,
  range: TimeRange,
): Promise<AsyncIterable<UsageRow[]>> {
  const marks = await selectMarks(database.sql);
  const asked = withinRows(spanOf(range, marks.now), marks);
  const span = { from: asked.from, to: Math.min(asked.to, marks.now + 1) };
  // The first portion is read here, so that a database that is away is an error and not a file that ends early.
  const first = await selectUsage(database.sql, userId, span, { limit: exportedAtOnce, offset: 0 });

  async function* portions(): AsyncGenerator<UsageRow[]> {
    let portion = first;
    while (portion.length > 0) {
      yield portion;
      const last = portion.at(-1);
      if (!last || portion.length < exportedAtOnce) return;
      portion = await selectUsageAfter(database.sql, userId, span.from, last, exportedAtOnce);
    }
  }
  return portions();
}
