import type { Database, Sql } from "../../../engines/database/database.ts";
import type { Gone } from "../../nodes/index.ts";
import type { GrantedSlot } from "../store.ts";

/**
 * Serves models where somebody with a client waits although there is room: the capacity was raised, or no worker comes
 * for the queued ones before them.
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
  /** Queued ones are run again, the others lost their client with their node. */
  queued: boolean;
  deaths: number;
}

/** Predictions that a node holds. Those that run, wait with a client or wait for an agent's run have an index each. */
const held = (sql: Sql) => sql`(
  select * from live_predictions where started_at is not null
  union all select * from live_predictions where started_at is null and holder is not null and route <> 'agent'
  union all select * from live_predictions where started_at is null and route = 'agent')`;

/** Predictions whose node is gone. */
export async function listAbandoned(sql: Sql, gone: Gone, limit: number): Promise<AbandonedPrediction[]> {
  return sql<AbandonedPrediction[]>`
    select l.id, l.claim, l.route = 'async' as queued, l.deaths from ${held(sql)} l
    where ${gone(sql, sql`l.holder`)}
    order by l.id limit ${limit}`;
}

/** Those that have waited as long as they may. */
export async function listOverdue(sql: Sql, limit: number): Promise<{ id: string; claim: number }[]> {
  return sql<{ id: string; claim: number }[]>`
    select id, claim from live_predictions where started_at is null and queue_until > '-infinity' and queue_until < now()
    order by queue_until limit ${limit}`;
}

export async function isAnyQueued(sql: Sql): Promise<boolean> {
  const rows = await sql`select 1 from model_slots where waiting > 0 limit 1`;
  return rows.length > 0;
}

/** Waiting predictions of this node that were granted a slot although no notice arrived. */
export async function listStarted(sql: Sql, ids: readonly string[]): Promise<GrantedSlot[]> {
  return sql<GrantedSlot[]>`
    select id, holder, claim from live_predictions
    where id = any(${ids as string[]}::text[]) and started_at is not null`;
}

/** Which of these claims are no longer this node's: ended, or taken over. */
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

/** What the database believes this node to hold, older than a few seconds. */
export async function listHeldBy(
  sql: Sql,
  nodeId: string,
  olderThanSeconds: number,
): Promise<{ id: string; claim: number; queued: boolean }[]> {
  return sql<{ id: string; claim: number; queued: boolean }[]>`
    select id, claim, route = 'async' as queued from ${held(sql)} l
    where holder = ${nodeId} and coalesce(started_at, created_at) < now() - make_interval(secs => ${olderThanSeconds})`;
}

/** Lines of those who wait and stand in none. */
export async function mendLines(sql: Sql): Promise<void> {
  await sql`select mend_lines()`;
}

/** What only the last minutes need, and what is later than now, because the clock was set back. */
export async function forgetOldFlow(sql: Sql): Promise<void> {
  await sql`
    delete from model_flow where second < extract(epoch from now())::bigint - 120
      or second > extract(epoch from now())::bigint + 5`;
  await sql`delete from prediction_traces where created_at < now() - interval '2 days'`;
}
