import type { Sql, Transaction } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import { type Micros1970, type Moment, momentOfMicros } from "./moment.rules.ts";
import type { Span, TimeCut, UsageMarks } from "./time-cut.rules.ts";

export interface UsageRow {
  requestId: string;
  modelName: string;
  route: string;
  status: number;
  createdAt: Moment;
  inferenceMs: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  cachedTokens: number | null;
  price: Micros;
}

/** As a parameter of the type text: as a timestamptz the driver would make a Date of it and lose microseconds. */
function timeParameter(time: Micros1970): string {
  return time === Number.POSITIVE_INFINITY ? "infinity" : momentOfMicros(time);
}

/** Everything that is read in the transaction comes from one snapshot: totals and rows agree. */
export async function readFromOneSnapshot(tx: Transaction): Promise<void> {
  await tx`set transaction isolation level repeatable read, read only`;
}

const micros1970 = (sql: Sql, time: ReturnType<Sql>) => sql`(extract(epoch from ${time}) * 1000000)::bigint`;

export async function selectMarks(sql: Sql): Promise<UsageMarks> {
  const [marks] = await sql<UsageMarks[]>`
    select ${micros1970(sql, sql`clock_timestamp()`)} as now,
      coalesce(${micros1970(sql, sql`days_before`)}, 0) as "daysBefore",
      coalesce(${micros1970(sql, sql`horizon`)}, 0) as horizon
    from usage_marks`;
  if (!marks) throw new Error("usage_marks has lost its row");
  return marks;
}

/** The parameters of a cut, as the queries below take them. */
export function cutParameters({ days, hours, rows }: TimeCut) {
  const from = (spans: readonly Span[]) => spans.map((span) => timeParameter(span.from));
  const to = (spans: readonly Span[]) => spans.map((span) => timeParameter(span.to));
  return {
    days: { from: timeParameter(days.from), to: timeParameter(days.to) },
    hours: { from: from(hours), to: to(hours) },
    rows: { from: from(rows), to: to(rows), sign: rows.map((one) => one.sign as number) },
  };
}

/** A stretch of time in which the row at some offset stands, and how many newer rows the span has outside of it. */
export interface Stretch {
  ends: Micros1970;
  begins: Micros1970;
  newer: number;
}

/** How many rows a span has, and the day or hour that holds the one at `offset`, counted from the newest. */
export async function countUsage(
  sql: Sql,
  userId: string,
  cut: TimeCut,
  offset: number,
): Promise<{ total: number; at: Stretch | undefined }> {
  const { days, hours, rows } = cutParameters(cut);
  const [found] = await sql<[{ total: number } & ({ ends: null } | Stretch)]>`
    with piece as (
      select day as begins, interval '1 day' as lasts, sum(requests) as n
      from usage_days
      where user_id = ${userId} and day >= ${days.from}::text::timestamptz and day < ${days.to}::text::timestamptz
      group by day
      union all
      select h.hour, interval '1 hour', sum(h.requests)
      from unnest(${hours.from}::text[]::timestamptz[], ${hours.to}::text[]::timestamptz[]) as span (since, until)
      join usage_hours h on h.user_id = ${userId} and h.hour >= span.since and h.hour < span.until
      group by h.hour
      union all
      select date_trunc('hour', span.since), interval '1 hour', span.sign * counted.n
      from unnest(${rows.from}::text[]::timestamptz[], ${rows.to}::text[]::timestamptz[], ${rows.sign}::int[])
        as span (since, until, sign)
      cross join lateral (
        select count(*) as n from usage u
        where u.user_id = ${userId} and u.created_at >= span.since and u.created_at < span.until
      ) counted
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

/** The hour of a whole day that holds the row at `offset`, counted from the day's newest. */
export async function findHour(sql: Sql, userId: string, day: Span, offset: number): Promise<Stretch | undefined> {
  const [found] = await sql<Stretch[]>`
    with line as (
      select hour, sum(requests) as n, sum(sum(requests)) over (order by hour desc) as through
      from usage_hours
      where user_id = ${userId} and hour >= ${timeParameter(day.from)}::text::timestamptz
        and hour < ${timeParameter(day.to)}::text::timestamptz
      group by hour
    )
    select ${micros1970(sql, sql`hour`)} as begins, ${micros1970(sql, sql`hour + interval '1 hour'`)} as ends,
      (through - n)::bigint as newer
    from line where through > ${offset}::bigint order by hour desc limit 1`;
  return found;
}

const usageFields = (sql: Sql) => sql`
  request_id as "requestId", model_name as "modelName", route, status,
  to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "createdAt", inference_ms as "inferenceMs",
  input_tokens as "inputTokens", output_tokens as "outputTokens", cached_tokens as "cachedTokens", price_micros as price`;

/** Newest first. */
export async function selectUsage(
  sql: Sql,
  userId: string,
  span: Span,
  { limit, offset }: { limit: number; offset: number },
): Promise<UsageRow[]> {
  return sql<UsageRow[]>`
    select ${usageFields(sql)} from usage
    where user_id = ${userId} and created_at >= ${timeParameter(span.from)}::text::timestamptz
      and created_at < ${timeParameter(span.to)}::text::timestamptz
    order by usage.created_at desc, usage.request_id desc
    limit ${limit} offset ${offset}`;
}

/** The rows that follow one in the order of the list. */
export async function selectUsageAfter(
  sql: Sql,
  userId: string,
  since: Micros1970,
  last: UsageRow,
  limit: number,
): Promise<UsageRow[]> {
  // The first comparison says the same as the second, but months are left out by it alone.
  return sql<UsageRow[]>`
    select ${usageFields(sql)} from usage
    where user_id = ${userId} and created_at >= ${timeParameter(since)}::text::timestamptz
      and created_at <= ${last.createdAt}::text::timestamptz
      and (created_at, request_id) < (${last.createdAt}::text::timestamptz, ${last.requestId})
    order by usage.created_at desc, usage.request_id desc
    limit ${limit}`;
}
