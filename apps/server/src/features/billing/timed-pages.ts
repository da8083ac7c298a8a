import type { Database, Sql } from "../../engines/database/database.ts";
import {
  cutTime,
  hourMicros,
  type Micros1970,
  type Span,
  spanOf,
  type TimeRange,
  type UsageMarks,
} from "./time.rules.ts";
import { cutParameters, micros1970, readFromOneSnapshot, selectMarks, timeParameter } from "./time-store.ts";

export interface PageRange {
  limit: number;
  offset: number;
}

export interface TimedPage<Entry> {
  entries: Entry[];
  total: number;
}

/** A page of a list, newest first, and the total of the range, from one snapshot. */
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
    /** Limits the span to where entries exist. */
    within?(span: Span, marks: UsageMarks): Span;
  },
): Promise<TimedPage<Entry>> {
  return database.transaction(async (tx) => {
    const [, marks] = await Promise.all([readFromOneSnapshot(tx), selectMarks(tx, list.userId)]);
    const span = within(spanOf(range, marks.now), marks);
    const { total, start } = await findPageStart(tx, list, span, marks, offset);
    if (!start) return { entries: [], total };
    const rest = { from: span.from, to: Math.min(span.to, start.ends) };
    return { entries: await select(tx, rest, { limit, offset: start.skip }, marks), total };
  });
}

type Query = ReturnType<Sql>;

export interface TimedList {
  userId: string;
  /** The column of the sums that counts the entries. */
  summed: "requests" | "paid_requests";
  /** The sums that count, as a condition on `model_name`. Default: all. */
  only?(sql: Sql): Query;
  /** The entries that the sums count, as a query with the column `at`. */
  inSums(sql: Sql): Query;
  /** The sums count entries from here on. */
  summedFrom(marks: UsageMarks): Micros1970;
  /** The few entries that no sum counts, as a query with the column `at`. */
  besides?(sql: Sql, marks: UsageMarks): Query;
}

/** A page starts after `skip` of the entries before `ends`. */
export interface PageStart {
  ends: Micros1970;
  skip: number;
}

/** Skipping this many entries is cheaper than another query of the sums. */
const cheaplySkipped = 200;

/**
 * The number of entries in a span, and the start of the page at `offset`; undefined past the last entry. Uses the sums by
 * day and hour instead of counting or skipping entries.
 */
export async function findPageStart(
  sql: Sql,
  list: TimedList,
  span: Span,
  marks: UsageMarks,
  offset: number,
): Promise<{ total: number; start: PageStart | undefined }> {
  const { total, at } = await countByTime(sql, list, span, marks, offset);
  if (!at) return { total, start: undefined };
  const skip = offset - at.newer;
  // Days of a cut are always completely within the span, and so are their hours.
  if (skip > cheaplySkipped && at.ends - at.begins > hourMicros) {
    const day = { from: at.begins, to: at.ends };
    const { at: hour } = await countByTime(sql, list, day, { ...marks, daysBefore: 0 }, skip);
    if (hour) return { total, start: { ends: hour.ends, skip: skip - hour.newer } };
  }
  return { total, start: { ends: at.ends, skip } };
}

/** The day or hour with the entry at an offset, and the number of newer entries outside of it. */
interface Stretch {
  ends: Micros1970;
  begins: Micros1970;
  newer: number;
}

/** Counts the entries of a span, and finds the day or hour with the entry at `offset` from the newest. */
async function countByTime(
  sql: Sql,
  { userId, summed, only, inSums, summedFrom, besides }: TimedList,
  span: Span,
  marks: UsageMarks,
  offset: number,
): Promise<{ total: number; at: Stretch | undefined }> {
  const cut = cutTime({ from: Math.max(span.from, summedFrom(marks)), to: span.to }, marks);
  const { days, hours, rows } = cutParameters(cut);
  const counted = only ? sql`and ${only(sql)}` : sql``;
  // A whole day is one stretch, even if part of it is not folded.
  const inDays = sql`at >= ${days.from}::text::timestamptz and at < ${days.to}::text::timestamptz`;
  const stretchOf = sql`
    case when ${inDays} then date_trunc('day', at, 'UTC') else date_trunc('hour', at, 'UTC') end as begins,
    case when ${inDays} then interval '1 day' else interval '1 hour' end as lasts,`;
  const [found] = await sql<[{ total: number } & ({ ends: null } | Stretch)]>`
    with piece as (
      select day as begins, interval '1 day' as lasts, sum(${sql(summed)}) as n
      from usage_days
      where user_id = ${userId} and day >= ${days.from}::text::timestamptz and day < ${days.to}::text::timestamptz
        ${counted}
      group by day
      union all
      select h.hour, interval '1 hour', sum(h.${sql(summed)})
      from unnest(${hours.from}::text[]::timestamptz[], ${hours.to}::text[]::timestamptz[]) as span (since, until)
      join usage_hours h on h.user_id = ${userId} and h.hour >= span.since and h.hour < span.until
        ${counted}
      group by h.hour
      union all
      select counted.begins, counted.lasts, span.sign * counted.n
      from unnest(${rows.from}::text[]::timestamptz[], ${rows.to}::text[]::timestamptz[], ${rows.sign}::int[])
        as span (since, until, sign)
      cross join lateral (
        select ${stretchOf} count(*) as n from (${inSums(sql)}) entry where at >= span.since and at < span.until
        group by 1, 2
      ) counted
      ${
        besides
          ? sql`union all
      select ${stretchOf} count(*) from (${besides(sql, marks)}) entry
      where at >= ${timeParameter(span.from)}::text::timestamptz and at < ${timeParameter(span.to)}::text::timestamptz
      group by 1, 2`
          : sql``
      }
    ), stretch as (
      select begins, max(lasts) as lasts, sum(n) as n from piece group by begins having sum(n) > 0
    ), running_total as (
      select begins, lasts, n, sum(n) over (order by begins desc) as through from stretch
    )
    select coalesce((select sum(n) from stretch), 0)::bigint as total, at.*
    from (values (1)) as once left join lateral (
      select ${micros1970(sql, sql`begins`)} as begins, ${micros1970(sql, sql`begins + lasts`)} as ends,
        (through - n)::bigint as newer
      from running_total where through > ${offset}::bigint order by begins desc limit 1
    ) at on true`;
  return { total: found.total, at: found.ends === null ? undefined : found };
}
