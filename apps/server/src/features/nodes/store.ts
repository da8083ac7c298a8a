import type { Sql } from "../../engines/database/database.ts";

/** A node without a heartbeat for this long is dead. Other nodes take over its work. */
export const deadAfterSeconds = 10;

type Fragment = ReturnType<Sql>;

/**
 * The only definition of alive, for a row of `nodes`. A heartbeat after `unheardSince` counts too: while the database was
 * away, no node could write one.
 */
const isAlive = (sql: Sql, unheardSince?: Date) => sql`
  heartbeat_at > least(now() - make_interval(secs => ${deadAfterSeconds}), ${unheardSince ?? null}::timestamptz)`;

/** A condition on a column with a node id: the node is dead or unknown. */
export const isGone = (sql: Sql, nodeId: Fragment, unheardSince?: Date): Fragment => sql`
  not exists (select 1 from nodes where nodes.id = ${nodeId} and ${isAlive(sql, unheardSince)})`;

export const selectAlive = (sql: Sql): Fragment => sql`(select count(*)::int from nodes where ${isAlive(sql)})`;

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

/** The settings that all nodes of a cluster must share. */
export interface NodeMarks {
  keyProof: string;
  fileStore: string;
}

/** Writes the heartbeat. Returns its time by the clock of the database. */
export async function beat(sql: Sql, nodeId: string, { keyProof, fileStore }: NodeMarks): Promise<Date> {
  const [row] = await sql<{ at: Date }[]>`
    insert into nodes (id, key_proof, file_store, runs_chats, lists_backends, runs_threads, runs_batches)
    values (${nodeId}, ${keyProof}, ${fileStore}, true, true, true, true)
    on conflict (id) do update set heartbeat_at = now() returning heartbeat_at as at`;
  return row?.at ?? new Date();
}

export async function hasBeatenWithin(sql: Sql, nodeId: string, milliseconds: number): Promise<boolean> {
  const rows = await sql`
    select 1 from nodes where id = ${nodeId} and heartbeat_at > now() - make_interval(secs => ${milliseconds / 1_000})`;
  return rows.length > 0;
}

/** The marks of the other nodes alive. Null if not set. */
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

/** Their work can be taken over at once. A node that is alive returns with its next heartbeat. */
export async function forgetAllNodes(sql: Sql): Promise<void> {
  await sql`delete from nodes`;
}

export async function forgetDeadNodes(sql: Sql, unheardSince: Date): Promise<void> {
  await sql`
    delete from nodes where heartbeat_at
      <= least(now() - make_interval(secs => ${deadAfterSeconds * 6}), ${unheardSince}::timestamptz)`;
}
