import type { Database } from "../../engines/database/database.ts";
import { spanOf, type TimeRange, withinRows } from "./time-cut.rules.ts";
import { readFromOneSnapshot, selectMarks } from "./time-store.ts";
import { findPlace } from "./timed-list-store.ts";
import { selectUsage, selectUsageAfter, type UsageRow, usageOf } from "./usage-store.ts";

export interface UsagePage {
  entries: UsageRow[];
  total: number;
}

const exportedAtOnce = 1_000;

/** A page of a user's ended predictions, newest first, and how many there are. */
export async function listUsage(
  database: Database,
  userId: string,
  range: TimeRange,
  page: { limit: number; offset: number },
): Promise<UsagePage> {
  return database.transaction(async (tx) => {
    const [, marks] = await Promise.all([readFromOneSnapshot(tx), selectMarks(tx)]);
    const span = withinRows(spanOf(range, marks.now), marks);
    const { total, place } = await findPlace(tx, usageOf(userId), span, marks, page.offset);
    if (!place) return { entries: [], total };
    const rest = { from: span.from, to: Math.min(span.to, place.ends) };
    return { entries: await selectUsage(tx, userId, rest, { limit: page.limit, offset: place.skip }), total };
  });
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
