import type { Sql } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import type { Moment } from "./moment.rules.ts";
import type { Span } from "./time-cut.rules.ts";
import { momentOf, timeParameter } from "./time-store.ts";
import type { TimedList } from "./timed-list-store.ts";

export interface LedgerEntry {
  id: number;
  recordedAt: Moment;
  kind: string;
  /** What came in is positive. */
  amount: Micros;
  /** The prediction or run that was paid. */
  reference: string | null;
  reason: string | null;
}

type Query = ReturnType<Sql>;

const accountOf = (userId: string): string => `user:${userId}`;

// One condition for each index of migrations/0043, in its words.
const paid = (sql: Sql, userId: string): Query =>
  sql`from_account = ${accountOf(userId)} and kind in ('charge', 'sale')`;
const corrected = (sql: Sql, userId: string): Query => sql`from_account = ${accountOf(userId)} and kind = 'correction'`;
const received = (sql: Sql, userId: string): Query =>
  sql`to_account = ${accountOf(userId)} and to_account <> 'platform'`;

/** What a user pays is a row of usage that cost something, at the same moment. */
export function entriesOf(userId: string): TimedList {
  return {
    userId,
    summed: "paid_requests",
    inSums: (sql) => sql`select recorded_at as at from ledger where ${paid(sql, userId)}`,
    besides: (sql) => sql`
      select recorded_at as at from ledger where ${corrected(sql, userId)}
      union all
      select recorded_at from ledger where ${received(sql, userId)}`,
  };
}

/**
 * Newest first, read from the indexes; whole rows are read for the page only. The other side of an entry is not among
 * what is read: whoever sold a run does not learn from its money who ran it. Nor is the reference of a credit, which
 * names the admin.
 */
export async function selectEntries(
  sql: Sql,
  userId: string,
  span: Span,
  { limit, offset }: { limit: number; offset: number },
): Promise<LedgerEntry[]> {
  // Each is bounded by itself: sorted together, all entries of the span would be read for one page.
  const newest = (which: Query) => sql`(
    select id, recorded_at from ledger
    where ${which} and recorded_at >= ${timeParameter(span.from)}::text::timestamptz
      and recorded_at < ${timeParameter(span.to)}::text::timestamptz
    order by recorded_at desc, id desc limit ${limit + offset})`;
  return sql<LedgerEntry[]>`
    with page as materialized (
      select id, recorded_at from (
        ${newest(paid(sql, userId))} union all ${newest(corrected(sql, userId))} union all ${newest(received(sql, userId))}
      ) entry order by recorded_at desc, id desc limit ${limit} offset ${offset}
    )
    select l.id, ${momentOf(sql, sql`l.recorded_at`)} as "recordedAt", l.kind, l.reason,
      case when l.to_account = ${accountOf(userId)} then l.amount_micros else -l.amount_micros end as amount,
      case when l.kind in ('charge', 'sale') then l.reference end as reference
    from page join ledger l on l.id = page.id order by l.recorded_at desc, l.id desc`;
}
