import type { Sql } from "../../../engines/database/database.ts";
import { isGone } from "../../nodes/index.ts";

/** Where an Idempotency-Key applies. */
export interface KeyAddress {
  userId: string;
  scope: string;
  key: string;
}

/** The request that used a key first. */
export interface KeyOwner {
  /** Of the prediction or run. */
  id: string;
  fingerprint: string;
}

/** Takes the key for a day; false if an earlier request has it. Locks the row until the end of the transaction. */
export async function takeIdempotencyKey(
  sql: Sql,
  { userId, scope, key }: KeyAddress,
  { id, fingerprint }: KeyOwner,
  nodeId?: string,
): Promise<boolean> {
  const rows = await sql`
    insert into idempotency_keys as k (user_id, scope, key, fingerprint, prediction_id, taken_by)
    values (${userId}, ${scope}, ${key}, ${fingerprint}, ${id}, ${nodeId ?? null})
    on conflict (user_id, scope, key) do update
      set fingerprint = excluded.fingerprint, prediction_id = excluded.prediction_id, taken_by = excluded.taken_by,
        created_at = now()
      where k.created_at < now() - interval '24 hours'
    returning 1`;
  return rows.length > 0;
}

export interface TakenKey extends KeyOwner {
  /** The node of the request is dead, or its admission took too long: another request may take the key. */
  stale: boolean;
  /** The next request may take the key. */
  expired: boolean;
}

/** The owner of the key in the first of the scopes that has one. */
export async function findIdempotencyKey(
  sql: Sql,
  { userId, key }: Pick<KeyAddress, "userId" | "key">,
  scopes: readonly string[],
): Promise<TakenKey | undefined> {
  const [row] = await sql<TakenKey[]>`
    select fingerprint, prediction_id as id, created_at < now() - interval '60 seconds'
        or taken_by is not null and ${isGone(sql, sql`taken_by`)} as stale,
      created_at < now() - interval '24 hours' as expired
    from idempotency_keys where user_id = ${userId} and scope = any (${scopes as string[]}) and key = ${key}
    order by array_position(${scopes as string[]}::text[], scope) limit 1`;
  return row;
}

/** Gives the key to another owner, for another day. The row must be locked. */
export async function replaceIdempotencyKey(
  sql: Sql,
  { userId, scope, key }: KeyAddress,
  { id, fingerprint }: KeyOwner,
): Promise<void> {
  await sql`
    update idempotency_keys set prediction_id = ${id}, fingerprint = ${fingerprint}, created_at = now()
    where user_id = ${userId} and scope = ${scope} and key = ${key}`;
}

/** False if another request has taken the key. */
export async function renewIdempotencyKey(sql: Sql, { userId, scope, key }: KeyAddress, id: string): Promise<boolean> {
  const rows = await sql`
    update idempotency_keys set created_at = now()
    where user_id = ${userId} and scope = ${scope} and key = ${key} and prediction_id = ${id}
    returning 1`;
  return rows.length > 0;
}

/** Releases the key if this owner still has it. */
export async function dropIdempotencyKey(sql: Sql, { userId, scope, key }: KeyAddress, id: string): Promise<void> {
  await sql`
    delete from idempotency_keys
    where user_id = ${userId} and scope = ${scope} and key = ${key} and prediction_id = ${id}`;
}

/** Returns how many were deleted: fewer than the limit means that none are left. */
export async function deleteIdempotencyKeys(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from idempotency_keys where (user_id, scope, key) in (
      select user_id, scope, key from idempotency_keys where created_at < ${before}
      order by created_at limit ${limit} for update skip locked
    )`;
  return count;
}
