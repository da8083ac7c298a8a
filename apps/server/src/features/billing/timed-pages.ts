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

type Query = ReturnType<Sql>;

/** A user's entries with a moment each, which are listed newest first. */
export interface TimedList {
  userId: string;
  /** Which figure of the sums by day and hour counts them. */
  summed: "requests" | "paid_requests";
  /** Those that the sums count, as a table with the moment `at`. */
  inSums(sql: Sql): Query;
  /** The sums count them from this moment on. */
  summedFrom(marks: UsageMarks): Micros1970;
  /** The same for those that no sum counts; few. */
  besides?(sql: Sql, marks: UsageMarks): Query;
}

/** Where a page begins: behind `skip` of the entries that are before the moment `ends`. */
export interface Place {
  ends: Micros1970;
  skip: number;
}

/** So many entries are skipped sooner than the sums are asked where to begin. */
const cheaplySkipped = 200;

/**
 * How many entries a span has, and where the one at `offset` stands; undefined past the last. Neither counts nor skips
 * entry by entry: the sums by day and hour say how many there are and in which hour the page begins.
 */
export async function findPlace(
  sql: Sql,
  list: TimedList,
  span: Span,
  marks: UsageMarks,
  offset: number,
): Promise<{ total: number; place: Place | undefined }> {
  const { total, at } = await countByTime(sql, list, span, marks, offset);
  if (!at) return { total, place: undefined };
  const skip = offset - at.newer;
  // A day is always within the span as a whole, so that its hours are too.
  if (skip > cheaplySkipped && at.ends - at.begins > hourMicros) {
    const day = { from: at.begins, to: at.ends };
    const { at: hour } = await countByTime(sql, list, day, { ...marks, daysBefore: 0 }, skip);
    if (hour) return { total, place: { ends: hour.ends, skip: skip - hour.newer } };
  }
  return { total, place: { ends: at.ends, skip } };
}

/** A stretch of time in which the entry at some offset stands, and how many newer ones the span has outside of it. */
interface Stretch {
  ends: Micros1970;
  begins: Micros1970;
  newer: number;
}

/** How many entries a span has, and the day or hour of its cut that holds the one at `offset`, counted from the newest. */
async function countByTime(
  sql: Sql,
  { userId, summed, inSums, summedFrom, besides }: TimedList,
  span: Span,
  marks: UsageMarks,
  offset: number,
): Promise<{ total: number; at: Stretch | undefined }> {
  const cut = cutTime({ from: Math.max(span.from, summedFrom(marks)), to: span.to }, marks);
  const { days, hours, rows } = cutParameters(cut);
  // A whole day is one stretch, whatever of it the sums have.
  const inDays = sql`at >= ${days.from}::text::timestamptz and at < ${days.to}::text::timestamptz`;
  const stretchOf = sql`
    case when ${inDays} then date_trunc('day', at, 'UTC') else date_trunc('hour', at, 'UTC') end as begins,
    case when ${inDays} then interval '1 day' else interval '1 hour' end as lasts,`;
  const [found] = await sql<[{ total: number } & ({ ends: null } | Stretch)]>`
    with piece as (
      select day as begins, interval '1 day' as lasts, sum(${sql(summed)}) as n
      from usage_days
      where user_id = ${userId} and day >= ${days.from}::text::timestamptz and day < ${days.to}::text::timestamptz
      group by day
      union all
      select h.hour, interval '1 hour', sum(h.${sql(summed)})
      from unnest(${hours.from}::text[]::timestamptz[], ${hours.to}::text[]::timestamptz[]) as span (since, until)
      join usage_hours h on h.user_id = ${userId} and h.hour >= span.since and h.hour < span.until
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
    ), line as (
      select begins, lasts, n, sum(n) over (order by begins desc) as through from stretch
    )
    select coalesce((select sum(n) from stretch), 0)::bigint as total, at.*
    from (values (1)) as once left join lateral (
      select ${micros1970(sql, sql`begins`)} as begins, ${micros1970(sql, sql`begins + lasts`)} as ends,
        (through - n)::bigint as newer
      from line where through > ${offset}::bigint order by begins desc limit 1
    ) at on true`;
  return { total: found.total, at: found.ends === null ? undefined : found };
}
