import type { Database, Sql } from "../../engines/database/database.ts";
import type { Scope } from "../accounts/index.ts";
import { type Moment, type Span, spanOf, type TimeRange, withinRows } from "./time.rules.ts";
import { momentOf, readFromOneSnapshot, selectMarks } from "./time-store.ts";
import { type PageRange, readTimedPage } from "./timed-pages.ts";
import { newest, type UsageRow, usageFields, usageOf, usageRows } from "./usage.ts";

export interface UsageFilter {
  modelName?: string | undefined;
  status?: "succeeded" | "failed" | "cancelled" | undefined;
  keyId?: string | undefined;
  route?: string | undefined;
  agentId?: string | undefined;
  runId?: string | undefined;
  /** A part of the id. */
  idPart?: string | undefined;
}

export interface SearchedCalls {
  entries: UsageRow[];
  total: number;
  /** Set if older rows of the range were not searched. */
  searchedFrom: Moment | null;
}

/** Filters read rows, so they read at most this many: the newest of the range. */
const mostSearched = 50_000;

const isCall = (sql: Sql) => sql`not is_sale(model_name)`;

/** Usage of predictions, without sales of runs. Totals without a filter come from the sums. */
export async function listCalls(
  database: Database,
  scope: Scope,
  range: TimeRange,
  filter: UsageFilter,
  page: PageRange,
): Promise<SearchedCalls> {
  if (scope.onlyKeyIds !== null || Object.values(filter).some((value) => value !== undefined)) {
    return searchCalls(database, scope, range, filter, page);
  }
  const { userId } = scope;
  const calls = {
    ...usageOf(userId),
    only: isCall,
    inSums: (sql: Sql) => sql`select created_at as at from usage where user_id = ${userId} and ${isCall(sql)}`,
  };
  const { entries, total } = await readTimedPage(database, calls, range, page, {
    select: (sql, span, rest) => selectCalls(sql, scope, span, rest),
    within: withinRows,
  });
  return { entries, total, searchedFrom: null };
}

function selectCalls(sql: Sql, scope: Scope, span: Span, { limit, offset }: PageRange): Promise<UsageRow[]> {
  return sql<UsageRow[]>`
    select ${usageFields(sql)}
    from ${usageRows(sql, scope, span, { only: sql`and ${isCall(sql)}`, most: newest(sql, limit + offset) })}
    order by usage.created_at desc, usage.request_id desc limit ${limit} offset ${offset}`;
}

function searchCalls(
  database: Database,
  scope: Scope,
  range: TimeRange,
  filter: UsageFilter,
  { limit, offset }: PageRange,
): Promise<SearchedCalls> {
  const { keyId, runId } = filter;
  return database.transaction(async (tx) => {
    const [, marks] = await Promise.all([readFromOneSnapshot(tx), selectMarks(tx, scope.userId)]);
    const span = withinRows(spanOf(range, marks.now), marks);
    // Keys and runs have indexes of their own.
    const only = tx`
      and ${isCall(tx)} ${keyId === undefined ? tx`` : tx`and key_id = ${keyId}`}
      ${runId === undefined ? tx`` : tx`and run_id = ${runId}`}`;
    const most = newest(tx, mostSearched);
    const searched = tx`select * from ${usageRows(tx, scope, span, { only, most })} ${most}`;
    // Two queries, because the page stops reading when it is full.
    const [entries, [figures]] = await Promise.all([
      tx<UsageRow[]>`
        select ${usageFields(tx)} from (${searched}) s where ${matches(tx, filter)}
        order by s.created_at desc, s.request_id desc limit ${limit} offset ${offset}`,
      tx<{ total: number; searched: number; oldest: Moment | null }[]>`
        select (count(*) filter (where ${matches(tx, filter)}))::int as total, count(*)::int as searched,
          ${momentOf(tx, tx`min(created_at)`)} as oldest
        from (${searched}) s`,
    ]);
    const isPartial = figures?.searched === mostSearched;
    return { entries, total: figures?.total ?? 0, searchedFrom: isPartial ? figures.oldest : null };
  });
}

const matches = (sql: Sql, { modelName, status, route, agentId, idPart }: UsageFilter) => sql`
  true
  ${modelName === undefined ? sql`` : sql`and model_name = ${modelName}`}
  ${status === undefined ? sql`` : withStatus(sql, status)}
  ${route === undefined ? sql`` : sql`and route = ${route}`}
  ${agentId === undefined ? sql`` : sql`and exists (select 1 from runs r where r.id = run_id and r.agent_id = ${agentId})`}
  ${idPart === undefined ? sql`` : sql`and strpos(request_id, ${idPart}) > 0`}`;

function withStatus(sql: Sql, status: NonNullable<UsageFilter["status"]>) {
  if (status === "succeeded") return sql`and status = 200`;
  return status === "cancelled" ? sql`and status = 499` : sql`and status not in (200, 499)`;
}

/** The usage of one prediction. Ids begin with the time of creation, and the row is dated by the end. */
export async function findCall(sql: Sql, scope: Scope, id: string, createdAt: Date): Promise<UsageRow | undefined> {
  const span = { from: (createdAt.getTime() - clockSkewMs) * 1000, to: Number.POSITIVE_INFINITY };
  const most = sql`order by created_at limit ${mostSearched}`;
  const [row] = await sql<UsageRow[]>`
    select ${usageFields(sql)} from (select * from ${usageRows(sql, scope, span, { most })} ${most}) u where u.request_id = ${id}`;
  return row;
}

/** Ids have the time of a node, rows that of the database. */
const clockSkewMs = 60_000;
