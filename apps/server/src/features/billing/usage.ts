import type { Database, Sql } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import { andOfKeys, type Scope } from "../accounts/index.ts";
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

export const usageIn = (sql: Sql, { userId, onlyKeyIds }: Scope, span: Span) => sql`
  user_id = ${userId} ${andOfKeys(sql, { onlyKeyIds }, sql`key_id`)}
  and created_at >= ${timeParameter(span.from)}::text::timestamptz
  and created_at < ${timeParameter(span.to)}::text::timestamptz`;

export async function countUsage(sql: Sql, scope: Scope, span: Span): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*) as total from usage where ${usageIn(sql, scope, span)}`;
  return row?.total ?? 0;
}

export async function selectUsage(
  sql: Sql,
  scope: Scope,
  span: Span,
  { limit, offset }: { limit: number; offset: number },
): Promise<UsageRow[]> {
  return sql<UsageRow[]>`
    select ${usageFields(sql)} from usage where ${usageIn(sql, scope, span)}
    order by usage.created_at desc, usage.request_id desc
    limit ${limit} offset ${offset}`;
}

export async function selectUsageAfter(
  sql: Sql,
  { userId, onlyKeyIds }: Scope,
  since: Micros1970,
  last: UsageRow,
  limit: number,
): Promise<UsageRow[]> {
  // Redundant, but needed to skip the partitions of other months.
  return sql<UsageRow[]>`
    select ${usageFields(sql)} from usage
    where user_id = ${userId} ${andOfKeys(sql, { onlyKeyIds }, sql`key_id`)}
      and created_at >= ${timeParameter(since)}::text::timestamptz
      and created_at <= ${last.createdAt}::text::timestamptz
      and (created_at, request_id) < (${last.createdAt}::text::timestamptz, ${last.requestId})
    order by usage.created_at desc, usage.request_id desc
    limit ${limit}`;
}
