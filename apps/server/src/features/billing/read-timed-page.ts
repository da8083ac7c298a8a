import type { Database, Sql } from "../../engines/database/database.ts";
import { type Span, spanOf, type TimeRange, type UsageMarks } from "./time-cut.rules.ts";
import { readFromOneSnapshot, selectMarks } from "./time-store.ts";
import { findPlace, type TimedList } from "./timed-list-store.ts";

export interface PageRange {
  limit: number;
  offset: number;
}

export interface TimedPage<Entry> {
  entries: Entry[];
  total: number;
}

/** A page of a list, newest first, and how many entries the range has, both of the same moment. */
export function readTimedPage<Entry>(
  database: Database,
  list: TimedList,
  range: TimeRange,
  { limit, offset }: PageRange,
  {
    select,
    within = (span) => span,
  }: {
    select(sql: Sql, span: Span, page: PageRange, marks: UsageMarks): Promise<Entry[]>;
    /** The part of the span of which there are entries at all. */
    within?(span: Span, marks: UsageMarks): Span;
  },
): Promise<TimedPage<Entry>> {
  return database.transaction(async (tx) => {
    const [, marks] = await Promise.all([readFromOneSnapshot(tx), selectMarks(tx, list.userId)]);
    const span = within(spanOf(range, marks.now), marks);
    const { total, place } = await findPlace(tx, list, span, marks, offset);
    if (!place) return { entries: [], total };
    const rest = { from: span.from, to: Math.min(span.to, place.ends) };
    return { entries: await select(tx, rest, { limit, offset: place.skip }, marks), total };
  });
}
