import type { Database, Sql } from "../../engines/database/database.ts";
import type { GrantedSlot } from "./store.ts";

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

/** What a node works with, for nodes that come later: they are refused with another. */
export interface NodeMarks {
  /** Of the secret key. */
  keyProof: string;
  fileStore: string;
}

/** Moves the heartbeat; answers when, by the clock of the database. */
export async function beat(sql: Sql, nodeId: string, { keyProof, fileStore }: NodeMarks): Promise<Date> {
  const [row] = await sql<{ at: Date }[]>`
    insert into nodes (id, key_proof, file_store) values (${nodeId}, ${keyProof}, ${fileStore})
    on conflict (id) do update set heartbeat_at = now() returning heartbeat_at as at`;
  return row?.at ?? new Date();
}

/** Whether a node has moved its heartbeat lately: it does so every second. */
export async function isBeating(sql: Sql, nodeId: string): Promise<boolean> {
  const rows = await sql`select 1 from nodes where id = ${nodeId} and heartbeat_at > now() - interval '3 seconds'`;
  return rows.length > 0;
}

export interface AbandonedPrediction {
  id: string;
  claim: number;
  /** Queued ones are run again, the others lost their client with their node. */
  queued: boolean;
  deaths: number;
}

/**
 * Predictions whose node is gone: it is not known, or has not moved its heartbeat for so many seconds, and not since
 * `unheardSince` either (undefined: not yet known, so a node that is known lives).
 */
export async function listAbandoned(
  sql: Sql,
  { deadAfterSeconds, unheardSince }: { deadAfterSeconds: number; unheardSince: Date | undefined },
  limit: number,
): Promise<AbandonedPrediction[]> {
  return sql<AbandonedPrediction[]>`
    select l.id, l.claim, l.route = 'async' as queued, l.deaths from live_predictions l
    where l.holder is not null and not exists (
      select 1 from nodes n where n.id = l.holder and n.heartbeat_at > least(
        now() - make_interval(secs => ${deadAfterSeconds}), ${unheardSince ?? new Date(0)}::timestamptz)
    )
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

/** Those that were not heard of for so many seconds, nor since the moment. */
export async function forgetDeadNodes(sql: Sql, seconds: number, unheardSince: Date): Promise<void> {
  await sql`
    delete from nodes
    where heartbeat_at <= least(now() - make_interval(secs => ${seconds}), ${unheardSince}::timestamptz)`;
}

/** What they held is anybody's to take over. One that lives comes back with its next heartbeat. */
export async function forgetAllNodes(sql: Sql): Promise<void> {
  await sql`delete from nodes`;
}

/** The heartbeat of a node as it stands there, to the microsecond. */
export interface Heartbeat {
  nodeId: string;
  at: string;
}

/** Heartbeats that lie in the future: the clock was set back after them. */
export async function listFutureHeartbeats(sql: Sql): Promise<Heartbeat[]> {
  return sql<Heartbeat[]>`select id as "nodeId", heartbeat_at::text as at from nodes where heartbeat_at > now()`;
}

/** Those nodes whose heartbeats have not been moved since. */
export async function forgetSilentNodes(sql: Sql, silent: readonly Heartbeat[]): Promise<void> {
  await sql`
    delete from nodes n
    using unnest(${silent.map((one) => one.nodeId)}::text[], ${silent.map((one) => one.at)}::text[]) as s (id, at)
    where n.id = s.id and n.heartbeat_at::text = s.at`;
}

export async function forgetNode(sql: Sql, nodeId: string): Promise<void> {
  await sql`delete from nodes where id = ${nodeId}`;
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
    select id, claim, route = 'async' as queued from live_predictions
    where holder = ${nodeId} and coalesce(started_at, created_at) < now() - make_interval(secs => ${olderThanSeconds})`;
}

/** Those who wait and are in no line; see migrations/0023. */
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
