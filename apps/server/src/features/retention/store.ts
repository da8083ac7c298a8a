import type { Sql, Transaction } from "../../engines/database/database.ts";

/**
 * What is let go of when its time is over. These tables belong to other features; here alone is decided how long their
 * rows are kept, and the rows that go together go in one transaction.
 */

/**
 * Results that ended before a moment, locked for this transaction; those that another node is at work on are passed
 * over. Ids sort by time, and nothing ends before it begins: the primary key finds them.
 */
export async function lockOldResults(
  tx: Transaction,
  { endedBefore, firstIdAfter, limit }: { endedBefore: Date; firstIdAfter: string; limit: number },
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from ended_predictions where id < ${firstIdAfter} and ended_at < ${endedBefore}
    order by id limit ${limit} for update skip locked`;
  return rows.map((row) => row.id);
}

export async function selectOutputKeys(sql: Sql, predictionIds: string[]): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select key from files where prediction_id = any(${predictionIds}::text[]) and origin = 'output'`;
  return rows.map((row) => row.key);
}

export async function deleteResults(tx: Transaction, predictionIds: string[]): Promise<void> {
  await tx`delete from files where prediction_id = any(${predictionIds}::text[]) and origin = 'output'`;
  await tx`delete from ended_predictions where id = any(${predictionIds}::text[])`;
}

/**
 * Removes some runs that a person started and that ended before a moment, with all that they started and all that is kept
 * of them; answers how many. What they cost stays in the books. One that still ends something it started is passed over.
 */
export async function deleteOldRuns(
  tx: Transaction,
  { endedBefore, firstIdAfter, limit }: { endedBefore: Date; firstIdAfter: string; limit: number },
): Promise<number> {
  const roots = await tx<{ id: string }[]>`
    select r.id from runs r
    where r.id < ${firstIdAfter} and r.completed_at < ${endedBefore} and cardinality(r.ancestors) = 0 and not exists (
      select 1 from runs b
      where b.ancestors[1] = r.id and cardinality(b.ancestors) > 0 and b.status in ('pending', 'running'))
    order by r.id limit ${limit} for update skip locked`;
  if (roots.length === 0) return 0;
  const rows = await tx<{ id: string }[]>`
    delete from runs where id = any(${roots.map((row) => row.id)}::text[])
      or (ancestors[1] = any(${roots.map((row) => row.id)}::text[]) and cardinality(ancestors) > 0)
    returning id`;
  const ids = rows.map((row) => row.id);
  for (const table of ["run_steps", "run_calls", "run_events", "run_confirmations", "run_secrets"]) {
    await tx`delete from ${tx(table)} where run_id = any(${ids}::text[])`;
  }
  return roots.length;
}

/** Each deletes some, and answers how many: fewer than the limit means that none are left. */
export async function deleteIdempotencyKeys(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from idempotency_keys where (user_id, scope, key) in (
      select user_id, scope, key from idempotency_keys where created_at < ${before}
      order by created_at limit ${limit} for update skip locked
    )`;
  return count;
}

export async function deleteRetiredPairs(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from retired_key_pairs where public in (
      select public from retired_key_pairs where valid_until < ${before} limit ${limit} for update skip locked
    )`;
  return count;
}

export async function deleteSignInLinks(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from sign_in_links where token_hash in (
      select token_hash from sign_in_links where expires_at < ${before} limit ${limit} for update skip locked
    )`;
  return count;
}

/** Nothing that was begun with the key of a session goes on for so long after it; its row stays for the books. */
export async function revokeEndedSessions(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    update api_keys set revoked_at = session_ends_at where id in (
      select id from api_keys where session_ends_at < ${before} and revoked_at is null
      limit ${limit} for update skip locked
    )`;
  return count;
}

export async function deleteEndedSecrets(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from webhook_secrets where (user_id, number) in (
      select user_id, number from webhook_secrets where expires_at < ${before} limit ${limit} for update skip locked
    )`;
  return count;
}

export async function selectLive(sql: Sql, predictionIds: string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select id from live_predictions where id = any(${predictionIds}::text[])`;
  return new Set(rows.map((row) => row.id));
}
