import type { Sql } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import type { Scope } from "../accounts/index.ts";
import type { Micros1970, Moment } from "./moment.rules.ts";
import type { Span } from "./time-cut.rules.ts";
import { momentOf, timeParameter } from "./time-store.ts";
import type { TimedList } from "./timed-list-store.ts";

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
}

const usageFields = (sql: Sql) => sql`
  request_id as "requestId", model_name as "modelName", route, status,
  ${momentOf(sql, sql`created_at`)} as "createdAt", inference_ms as "inferenceMs",
  input_tokens as "inputTokens", output_tokens as "outputTokens", cached_tokens as "cachedTokens",
  cache_write_tokens as "cacheWriteTokens", price_micros as price`;

export function usageOf(userId: string): TimedList {
  return {
    userId,
    summed: "requests",
    inSums: (sql) => sql`select created_at as at from usage where user_id = ${userId}`,
    summedFrom: ({ horizon }) => horizon,
  };
}

/** The rows of a scope in a span of time. */
export const usageIn = (sql: Sql, { userId, onlyKeyId }: Scope, span: Span) => sql`
  user_id = ${userId} ${onlyKeyId === null ? sql`` : sql`and key_id = ${onlyKeyId}`}
  and created_at >= ${timeParameter(span.from)}::text::timestamptz
  and created_at < ${timeParameter(span.to)}::text::timestamptz`;

export async function countUsage(sql: Sql, scope: Scope, span: Span): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*) as total from usage where ${usageIn(sql, scope, span)}`;
  return row?.total ?? 0;
}

/** Newest first. */
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

/** The rows that follow one in the order of the list. */
export async function selectUsageAfter(
  sql: Sql,
  { userId, onlyKeyId }: Scope,
  since: Micros1970,
  last: UsageRow,
  limit: number,
): Promise<UsageRow[]> {
  // The first comparison says the same as the second, but months are left out by it alone.
  return sql<UsageRow[]>`
    select ${usageFields(sql)} from usage
    where user_id = ${userId} ${onlyKeyId === null ? sql`` : sql`and key_id = ${onlyKeyId}`}
      and created_at >= ${timeParameter(since)}::text::timestamptz
      and created_at <= ${last.createdAt}::text::timestamptz
      and (created_at, request_id) < (${last.createdAt}::text::timestamptz, ${last.requestId})
    order by usage.created_at desc, usage.request_id desc
    limit ${limit}`;
}
