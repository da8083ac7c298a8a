import type { Sql } from "../../engines/database/database.ts";

/** A node that has not moved its heartbeat for so long is dead. Others take over what it held. */
export const deadAfterSeconds = 10;

type Fragment = ReturnType<Sql>;

/**
 * The one definition of alive, for a row of `nodes`. `unheardSince`: a node that moved its heartbeat after this moment is
 * alive too. While the database was away, no node could move its own.
 */
const isAlive = (sql: Sql, unheardSince?: Date) => sql`
  heartbeat_at > least(now() - make_interval(secs => ${deadAfterSeconds}), ${unheardSince ?? null}::timestamptz)`;

/** The holder, a column, is dead or not known. */
export const isGone = (sql: Sql, holder: Fragment, unheardSince?: Date): Fragment => sql`
  not exists (select 1 from nodes where nodes.id = ${holder} and ${isAlive(sql, unheardSince)})`;

/** The number of nodes alive, as part of a larger statement. */
export const selectAlive = (sql: Sql): Fragment => sql`(select count(*)::int from nodes where ${isAlive(sql)})`;

/** The age of a node's heartbeat in seconds, as part of a larger statement. */
export const heartbeatAge = (sql: Sql, nodeId: string): Fragment => sql`
  coalesce((select extract(epoch from clock_timestamp() - heartbeat_at) from nodes where id = ${nodeId}), 0)::float8`;

export async function countAlive(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`select ${selectAlive(sql)} as n`;
  return row?.n ?? 0;
}

export async function refuseAlive(sql: Sql): Promise<void> {
  const alive = await countAlive(sql);
  if (alive === 0) return;
  throw new Error(
    `${alive} ${alive === 1 ? "server runs" : "servers run"} on this database: stop all of them first ` +
      `(one that was killed counts for ${deadAfterSeconds} seconds more).`,
  );
}

/** What a node works with. Nodes that join later are refused with other marks. */
export interface NodeMarks {
  /** Proves the secret key. */
  keyProof: string;
  fileStore: string;
}

/** Moves the heartbeat. Answers when, by the clock of the database. */
export async function beat(sql: Sql, nodeId: string, { keyProof, fileStore }: NodeMarks): Promise<Date> {
  const [row] = await sql<{ at: Date }[]>`
    insert into nodes (id, key_proof, file_store) values (${nodeId}, ${keyProof}, ${fileStore})
    on conflict (id) do update set heartbeat_at = now() returning heartbeat_at as at`;
  return row?.at ?? new Date();
}

export async function hasBeatenWithin(sql: Sql, nodeId: string, milliseconds: number): Promise<boolean> {
  const rows = await sql`
    select 1 from nodes where id = ${nodeId} and heartbeat_at > now() - make_interval(secs => ${milliseconds / 1_000})`;
  return rows.length > 0;
}

/** The marks of all other nodes alive. Null: not set. */
export async function listOthers(
  sql: Sql,
  nodeId: string,
): Promise<{ id: string; keyProof: string | null; fileStore: string | null }[]> {
  return sql<{ id: string; keyProof: string | null; fileStore: string | null }[]>`
    select id, key_proof as "keyProof", file_store as "fileStore" from nodes
    where id <> ${nodeId} and ${isAlive(sql)} order by id`;
}

export async function forgetNode(sql: Sql, nodeId: string): Promise<void> {
  await sql`delete from nodes where id = ${nodeId}`;
}

/** What they held can be taken over at once. A node that lives comes back with its next heartbeat. */
export async function forgetAllNodes(sql: Sql): Promise<void> {
  await sql`delete from nodes`;
}

export async function forgetDeadNodes(sql: Sql, unheardSince: Date): Promise<void> {
  await sql`
    delete from nodes where heartbeat_at
      <= least(now() - make_interval(secs => ${deadAfterSeconds * 6}), ${unheardSince}::timestamptz)`;
}

/** The heartbeat of a node as it is stored, to the microsecond. */
export interface Heartbeat {
  nodeId: string;
  at: string;
}

/** Heartbeats in the future: the clock was set back after them. */
export async function listFutureHeartbeats(sql: Sql): Promise<Heartbeat[]> {
  return sql<Heartbeat[]>`select id as "nodeId", heartbeat_at::text as at from nodes where heartbeat_at > now()`;
}

/** Only nodes whose heartbeats have not moved since. */
export async function forgetSilentNodes(sql: Sql, silent: readonly Heartbeat[]): Promise<void> {
  await sql`
    delete from nodes n
    using unnest(${silent.map((one) => one.nodeId)}::text[], ${silent.map((one) => one.at)}::text[]) as s (id, at)
    where n.id = s.id and n.heartbeat_at::text = s.at`;
}
