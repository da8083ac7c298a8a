import type { Database, Sql } from "../../../engines/database/database.ts";
import type { Gone } from "../../nodes/index.ts";
import type { GrantedSlot } from "../prediction.ts";

/**
 * Grants slots of models that have free ones while clients wait: the capacity was raised, or no worker comes for the queued
 * predictions before them.
 */
export async function grantFreeSlots(database: Database): Promise<GrantedSlot[]> {
  return database.transaction(async (tx) => {
    const rows = await tx<{ id: string }[]>`
      select s.model_id as id from model_slots s join models m on m.id = s.model_id
      where s.waiting > 0 and s.running < m.capacity
      order by s.model_id for update of s`;
    if (rows.length === 0) return [];
    return tx<GrantedSlot[]>`select id, holder, claim from grant_slots(${rows.map((row) => row.id)}::text[], true)`;
  });
}

export interface AbandonedPrediction {
  id: string;
  claim: number;
  /** Queued predictions run again; the others lost their client with their node. */
  queued: boolean;
  deaths: number;
}

/** Predictions that belong to a node: running, waiting with a client, or waiting for a run. Each branch has an index. */
const claimed = (sql: Sql) => sql`(
  select * from live_predictions where started_at is not null
  union all select * from live_predictions where started_at is null and holder is not null and route <> 'agent'
  union all select * from live_predictions where started_at is null and route = 'agent')`;

export async function listAbandoned(sql: Sql, gone: Gone, limit: number): Promise<AbandonedPrediction[]> {
  return sql<AbandonedPrediction[]>`
    select l.id, l.claim, l.route = 'async' as queued, l.deaths from ${claimed(sql)} l
    where ${gone(sql, sql`l.holder`)}
    order by l.id limit ${limit}`;
}

/** Predictions that have waited longer than their queue limit. */
export async function listOverdue(sql: Sql, limit: number): Promise<{ id: string; claim: number }[]> {
  return sql<{ id: string; claim: number }[]>`
    select id, claim from live_predictions where started_at is null and queue_until > '-infinity' and queue_until < now()
    order by queue_until limit ${limit}`;
}

export async function isAnyQueued(sql: Sql): Promise<boolean> {
  const rows = await sql`select 1 from model_slots where waiting > 0 limit 1`;
  return rows.length > 0;
}

export async function listStarted(sql: Sql, ids: readonly string[]): Promise<GrantedSlot[]> {
  return sql<GrantedSlot[]>`
    select id, holder, claim from live_predictions
    where id = any(${ids as string[]}::text[]) and started_at is not null`;
}

/** Claims that no longer belong to this node: ended, or taken over. */
export async function listLost(
  sql: Sql,
  nodeId: string,
  claims: readonly { id: string; claim: number }[],
): Promise<{ id: string; claim: number }[]> {
  return sql<{ id: string; claim: number }[]>`
    select g.id, g.claim
    from unnest(${claims.map((one) => one.id)}::text[], ${claims.map((one) => one.claim)}::int[]) as g (id, claim)
    where not exists (
      select 1 from live_predictions l where l.id = g.id and l.claim = g.claim and l.holder = ${nodeId}
    )`;
}

export async function listClaimedBy(
  sql: Sql,
  nodeId: string,
  olderThanSeconds: number,
): Promise<{ id: string; claim: number; queued: boolean }[]> {
  return sql<{ id: string; claim: number; queued: boolean }[]>`
    select id, claim, route = 'async' as queued from ${claimed(sql)} l
    where holder = ${nodeId} and coalesce(started_at, created_at) < now() - make_interval(secs => ${olderThanSeconds})`;
}

export async function repairQueues(sql: Sql): Promise<void> {
  await sql`select repair_queues()`;
}

/** Deletes what only the last minutes need. */
export async function deleteOldFlow(sql: Sql): Promise<void> {
  await sql`delete from model_flow where second < extract(epoch from now())::bigint - 120`;
  await sql`delete from prediction_traces where created_at < now() - interval '2 days'`;
}
