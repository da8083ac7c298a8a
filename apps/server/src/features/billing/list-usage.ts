import type { Database } from "../../engines/database/database.ts";
import type { Moment } from "./moment.rules.ts";
import { cutTime, hourMicros, spanOf, withinRows } from "./time-cut.rules.ts";
import {
  countUsage,
  findHour,
  readFromOneSnapshot,
  selectMarks,
  selectUsage,
  selectUsageAfter,
  type UsageRow,
} from "./usage-store.ts";

/** Both ends belong to it; undefined is no end. */
export interface UsageFilter {
  from: Moment | undefined;
  to: Moment | undefined;
}

export interface UsagePage {
  entries: UsageRow[];
  total: number;
}

/** So many rows are skipped sooner than the sums are asked where to begin. */
const cheaplySkipped = 200;
const exportedAtOnce = 1_000;

/**
 * A page of a user's ended predictions, newest first, and how many there are. Neither counts nor skips row by row: the
 * sums by day and hour say how many rows there are and in which hour the page begins.
 */
export async function listUsage(
  database: Database,
  userId: string,
  filter: UsageFilter,
  page: { limit: number; offset: number },
): Promise<UsagePage> {
  return database.transaction(async (tx) => {
    const [, marks] = await Promise.all([readFromOneSnapshot(tx), selectMarks(tx)]);
    const span = withinRows(spanOf(filter, marks.now), marks);
    const { total, at } = await countUsage(tx, userId, cutTime(span, marks), page.offset);
    if (!at) return { entries: [], total };
    let [ends, skip] = [at.ends, page.offset - at.newer];
    // A day is always within the span as a whole, so that its hours are too.
    if (skip > cheaplySkipped && at.ends - at.begins > hourMicros) {
      const hour = await findHour(tx, userId, { from: at.begins, to: at.ends }, skip);
      if (hour) [ends, skip] = [hour.ends, skip - hour.newer];
    }
    const rest = { from: span.from, to: Math.min(span.to, ends) };
    return { entries: await selectUsage(tx, userId, rest, { limit: page.limit, offset: skip }), total };
  });
}

/**
 * All rows of a filter, in portions, each read when the one before has been taken. No transaction stays open for a
 * client that reads slowly: what ends after the call is not among it, and what is there does not change.
 */
export async function exportUsage(
  database: Database,
  userId: string,
  filter: UsageFilter,
): Promise<AsyncIterable<UsageRow[]>> {
  const marks = await selectMarks(database.sql);
  const asked = withinRows(spanOf(filter, marks.now), marks);
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
