import type { Database, Sql } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import { rowsOfKeys, type Scope } from "../accounts/index.ts";
import { type Micros1970, type Moment, type Span, spanOf, type TimeRange, withinRows } from "./time.rules.ts";
import { momentOf, readFromOneSnapshot, selectMarks, timeParameter } from "./time-store.ts";
import { type PageRange, readTimedPage, type TimedList, type TimedPage } from "./timed-pages.ts";

export type UsagePage = TimedPage<UsageRow>;

const exportedAtOnce = 1_000;

export function listUsage(database: Database, scope: Scope, range: TimeRange, page: PageRange): Promise<UsagePage> {
  if (scope.onlyKeyIds !== null) return listUsageOfKey(database, scope, range, page);
  return readTimedPage(database, usageOf(scope.userId), range, page, {
    select: (sql, span, rest) => selectUsage(sql, scope, span, rest),
    within: withinRows,
  });
}

/** Sums exist for users only, so the usage of a key is counted by rows. */
function listUsageOfKey(database: Database, scope: Scope, range: TimeRange, page: PageRange): Promise<UsagePage> {
  return database.transaction(async (tx) => {
    const [, marks] = await Promise.all([readFromOneSnapshot(tx), selectMarks(tx, scope.userId)]);
    const span = withinRows(spanOf(range, marks.now), marks);
    return { entries: await selectUsage(tx, scope, span, page), total: await countUsage(tx, scope, span) };
  });
}

/**
 * All rows of a range in portions, each read after the one before was consumed, so that no transaction stays open for a slow
 * client. Predictions that end after the call are not included.
 */
export async function exportUsage(
  database: Database,
  scope: Scope,
  range: TimeRange,
): Promise<AsyncIterable<UsageRow[]>> {
  const marks = await selectMarks(database.sql, scope.userId);
  const asked = withinRows(spanOf(range, marks.now), marks);
  const span = { from: asked.from, to: Math.min(asked.to, marks.now + 1) };
  // Read before the response begins, so that an unavailable database is an error and not a truncated file.
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
  cacheWriteTokens: number;
  price: Micros;
  door: string | null;
  backend: string | null;
  keyId: string | null;
  runId: string | null;
}

export const usageFields = (sql: Sql) => sql`
  request_id as "requestId", model_name as "modelName", route, status,
  ${momentOf(sql, sql`created_at`)} as "createdAt", inference_ms as "inferenceMs",
  input_tokens as "inputTokens", output_tokens as "outputTokens", cached_tokens as "cachedTokens",
  cache_write_tokens as "cacheWriteTokens", price_micros as price, door, backend, key_id as "keyId", run_id as "runId"`;

export function usageOf(userId: string): TimedList {
  return {
    userId,
    summed: "requests",
    inSums: (sql) => sql`select created_at as at from usage where user_id = ${userId}`,
    summedFrom: ({ horizon }) => horizon,
  };
}

type Query = ReturnType<Sql>;

/**
 * The rows of a scope in a span, to be read as the table `usage`. `only` continues the condition. `most` is the order of the
 * rows and how many of them the query reads at most.
 */
export function usageRows(
  sql: Sql,
  { userId, onlyKeyIds }: Scope,
  span: Span,
  { only = sql``, most = sql`offset 0` }: { only?: Query; most?: Query } = {},
): Query {
  const isByKey = onlyKeyIds !== null && typeof onlyKeyIds !== "string";
  return sql`${rowsOfKeys(
    sql,
    { onlyKeyIds },
    (ofKeys) => sql`
      select * from usage
      where user_id = ${userId} ${ofKeys} and created_at >= ${timeParameter(span.from)}::text::timestamptz
        and created_at < ${timeParameter(span.to)}::text::timestamptz ${only} ${isByKey ? most : sql``}`,
  )} usage`;
}

/** The order of lists, and how many rows they read. */
export const newest = (sql: Sql, rows: number): Query => sql`order by created_at desc, request_id desc limit ${rows}`;

export async function countUsage(sql: Sql, scope: Scope, span: Span): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*) as total from ${usageRows(sql, scope, span)}`;
  return row?.total ?? 0;
}

export async function selectUsage(
  sql: Sql,
  scope: Scope,
  span: Span,
  { limit, offset }: { limit: number; offset: number },
): Promise<UsageRow[]> {
  return sql<UsageRow[]>`
    select ${usageFields(sql)} from ${usageRows(sql, scope, span, { most: newest(sql, limit + offset) })}
    order by usage.created_at desc, usage.request_id desc
    limit ${limit} offset ${offset}`;
}

export async function selectUsageAfter(
  sql: Sql,
  scope: Scope,
  since: Micros1970,
  last: UsageRow,
  limit: number,
): Promise<UsageRow[]> {
  // The first condition is redundant, but needed to skip the partitions of other months.
  const only = sql`
    and created_at <= ${last.createdAt}::text::timestamptz
    and (created_at, request_id) < (${last.createdAt}::text::timestamptz, ${last.requestId})`;
  const span = { from: since, to: Number.POSITIVE_INFINITY };
  return sql<UsageRow[]>`
    select ${usageFields(sql)} from ${usageRows(sql, scope, span, { only, most: newest(sql, limit) })}
    order by usage.created_at desc, usage.request_id desc
    limit ${limit}`;
}
