import type { Database, Sql } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import { type Moment, type Span, type TimeRange, type UsageMarks, withinRows } from "./time.rules.ts";
import { micros1970, momentOf, timeParameter } from "./time-store.ts";
import { type PageRange, readTimedPage, type TimedList, type TimedPage } from "./timed-pages.ts";

export type LedgerPage = TimedPage<LedgerEntry>;

export function listLedger(database: Database, userId: string, range: TimeRange, page: PageRange): Promise<LedgerPage> {
  return readTimedPage(database, entriesOf(userId), range, page, {
    select: (sql, span, rest, marks) => selectEntries(sql, userId, span, rest, marks),
  });
}

export interface LedgerEntry {
  /** For a charge that is not in the ledger yet: microseconds since 1970. */
  id: number;
  recordedAt: Moment;
  kind: string;
  /** Positive if the wallet received it. */
  amount: Micros;
  reference: string | null;
  /** While the usage row of the charge exists. */
  modelName: string | null;
  reason: string | null;
}

type Query = ReturnType<Sql>;

const accountOf = (userId: string): string => `user:${userId}`;

/** Payments are read from usage rows, and from the ledger only where rows were dropped. */
const paid = (sql: Sql, userId: string): Query => sql`user_id = ${userId} and price_micros > 0`;
// One condition for each partial index of the ledger, with the same predicate.
const paidBefore = (sql: Sql, userId: string, { horizon }: UsageMarks): Query => sql`
  from_account = ${accountOf(userId)} and kind in ('charge', 'sale')
    and recorded_at < ${timeParameter(horizon)}::text::timestamptz`;
const corrected = (sql: Sql, userId: string): Query => sql`from_account = ${accountOf(userId)} and kind = 'correction'`;
const received = (sql: Sql, userId: string): Query =>
  sql`to_account = ${accountOf(userId)} and to_account <> 'platform'`;

export function entriesOf(userId: string): TimedList {
  return {
    userId,
    summed: "paid_requests",
    inSums: (sql) => sql`select created_at as at from usage where ${paid(sql, userId)}`,
    summedFrom: ({ horizon }) => horizon,
    besides: (sql, marks) => sql`
      select recorded_at as at from ledger where ${paidBefore(sql, userId, marks)}
      union all
      select recorded_at from ledger where ${corrected(sql, userId)}
      union all
      select recorded_at from ledger where ${received(sql, userId)}`,
  };
}

/**
 * Newest first, from the indexes; whole rows are read for the page only. Entries do not show the other account, so that the
 * seller of a run does not learn the buyer. References of credits (which name the admin) and of a day's charges (which name
 * the user) are hidden too.
 */
export async function selectEntries(
  sql: Sql,
  userId: string,
  span: Span,
  { limit, offset }: { limit: number; offset: number },
  marks: UsageMarks,
): Promise<LedgerEntry[]> {
  const kept = withinRows(span, marks);
  // Each branch has its own limit. One limit over all would read every entry of the span.
  const newest = (which: Query) => sql`(
    select recorded_at as at, id, null as request_id, null::bigint as price, null as model_name from ledger
    where ${which} and recorded_at >= ${timeParameter(span.from)}::text::timestamptz
      and recorded_at < ${timeParameter(span.to)}::text::timestamptz
    order by recorded_at desc, id desc limit ${limit + offset})`;
  return sql<LedgerEntry[]>`
    with page as materialized (
      select * from (
        (select created_at as at, null::bigint as id, request_id, price_micros as price, model_name from usage
        where ${paid(sql, userId)} and created_at >= ${timeParameter(kept.from)}::text::timestamptz
          and created_at < ${timeParameter(kept.to)}::text::timestamptz
        order by usage.created_at desc, usage.request_id desc limit ${limit + offset})
        union all ${newest(paidBefore(sql, userId, marks))}
        union all ${newest(corrected(sql, userId))}
        union all ${newest(received(sql, userId))}
      ) entry order by at desc, id desc, request_id desc limit ${limit} offset ${offset}
    )
    select coalesce(l.id, ${micros1970(sql, sql`page.at`)}) as id, ${momentOf(sql, sql`page.at`)} as "recordedAt",
      coalesce(l.kind, 'charge') as kind, page.model_name as "modelName", l.reason,
      case when page.request_id is not null then -page.price
        when l.to_account = ${accountOf(userId)} then l.amount_micros else -l.amount_micros end as amount,
      coalesce(page.request_id, case when l.kind in ('charge', 'sale') and l.reason is null then l.reference end) as reference
    from page left join lateral (
      select * from ledger where id = page.id
      union all
      select * from ledger where reference = page.request_id and kind = case when is_sale(page.model_name) then 'sale' else 'charge' end
    ) l on true
    order by page.at desc, page.id desc, page.request_id desc`;
}
