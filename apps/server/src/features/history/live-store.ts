import type { Sql } from "../../engines/database/database.ts";
import { andOfKeys, type Scope } from "../accounts/index.ts";
import type { TimeRange } from "../billing/index.ts";
import type { PredictionFilter, PredictionRow } from "./prediction.ts";

export interface LivePage {
  ids: string[];
  total: number;
}

/** Of the waiting predictions of a user, model and priority, as many of the newest are listed. */
const mostListed = 10_000;

/** Live predictions, newest first. Reads only models with live predictions, by their indexes. */
export async function selectLive(
  sql: Sql,
  scope: Scope,
  range: TimeRange,
  filter: PredictionFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<LivePage> {
  const { model, keyId, mode, agentId, runId, q, status } = filter;
  const wanted = sql`
    l.model_id = s.model_id and l.user_id = ${scope.userId}
    ${andOfKeys(sql, scope, sql`l.key_id`)}
    ${range.from === undefined ? sql`` : sql`and l.created_at >= ${range.from}::text::timestamptz`}
    ${range.to === undefined ? sql`` : sql`and l.created_at <= ${range.to}::text::timestamptz`}
    ${model === undefined ? sql`` : sql`and l.model_name = ${model}`}
    ${keyId === undefined ? sql`` : sql`and l.key_id = ${keyId}`}
    ${mode === undefined ? sql`` : sql`and l.route = ${mode}`}
    ${runId === undefined ? sql`` : sql`and l.run_id = ${runId}`}
    ${agentId === undefined ? sql`` : sql`and exists (select 1 from runs r where r.id = l.run_id and r.agent_id = ${agentId})`}
    ${q === undefined ? sql`` : sql`and strpos(l.id, ${q}) > 0`}`;
  const waiting = (isHigh: boolean) => sql`
    (select l.id, l.created_at from live_predictions l
      where ${wanted} and l.started_at is null and l.high_priority = ${isHigh}
      order by l.created_at desc limit ${mostListed})`;
  const running = sql`
    (select l.id, l.created_at from live_predictions l where ${wanted} and l.started_at is not null limit ${mostListed})`;
  const branches =
    status === "waiting"
      ? sql`${waiting(true)} union all ${waiting(false)}`
      : status === "running"
        ? running
        : sql`${waiting(true)} union all ${waiting(false)} union all ${running}`;
  const [row] = await sql<LivePage[]>`
    with live as materialized (
      select x.id, x.created_at from model_slots s cross join lateral (${branches}) x
      where s.waiting > 0 or s.running > 0
    )
    select (select count(*) from live)::int as total,
      array(select id from live order by created_at desc, id desc limit ${limit} offset ${offset}) as ids`;
  return row ?? { ids: [], total: 0 };
}

export interface LiveRow extends PredictionRow {
  input: Record<string, unknown> | null;
  /** See `keptWith` of the queue. */
  bounds: {
    request?: { id?: string; trace?: string; keeps?: boolean; truncated?: boolean; preview?: string };
    kept?: Record<string, unknown>;
  } | null;
}

/** Those of the ids that are live. `withInput`: also the input, if the prediction is queued. */
export async function selectLiveRows(
  sql: Sql,
  scope: Scope,
  ids: readonly string[],
  withInput = false,
): Promise<LiveRow[]> {
  return sql<LiveRow[]>`
    select id, model_name as "modelName", route, null::int as status, created_at as "createdAt", started_at as "startedAt",
      null::text as "endedAt", null::int as "inferenceMs", null::int as "inputTokens", null::int as "outputTokens",
      null::int as "cachedTokens", 0 as "cacheWriteTokens", null::bigint as price, reserved_micros as reserved, door, backend,
      key_id as "keyId", run_id as "runId", ${withInput ? sql`input` : sql`null::json as input`}, bounds
    from live_predictions
    where id = any (${ids as string[]}::text[]) and user_id = ${scope.userId}
      ${andOfKeys(sql, scope, sql`key_id`)}`;
}
