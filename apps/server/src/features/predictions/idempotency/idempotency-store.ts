import type { Sql } from "../../../engines/database/database.ts";
import { isGone } from "../../nodes/index.ts";

export interface IdempotencyScope {
  userId: string;
  scope: string;
  key: string;
}

export interface IdempotencyRow {
  fingerprint: string;
  predictionId: string;
  /** Its node is gone, or it is older than it takes to be admitted: nobody goes on with it. */
  stale: boolean;
  /** Whoever comes next may take it. */
  expired: boolean;
}

/** Takes the key for a new prediction; false when it is taken and not a day old. */
export async function takeIdempotencyKey(
  sql: Sql,
  { userId, scope, key }: IdempotencyScope,
  { fingerprint, predictionId, nodeId }: { fingerprint: string; predictionId: string; nodeId: string },
): Promise<boolean> {
  const rows = await sql`
    insert into idempotency_keys as k (user_id, scope, key, fingerprint, prediction_id, taken_by)
    values (${userId}, ${scope}, ${key}, ${fingerprint}, ${predictionId}, ${nodeId})
    on conflict (user_id, scope, key) do update
      set fingerprint = excluded.fingerprint, prediction_id = excluded.prediction_id, taken_by = excluded.taken_by,
        created_at = now()
      where k.created_at < now() - interval '24 hours'
    returning 1`;
  return rows.length > 0;
}

export async function findIdempotencyKey(
  sql: Sql,
  { userId, scope, key }: IdempotencyScope,
): Promise<IdempotencyRow | undefined> {
  const [row] = await sql<IdempotencyRow[]>`
    select fingerprint, prediction_id as "predictionId", created_at < now() - interval '60 seconds'
        or taken_by is not null and ${isGone(sql, sql`taken_by`)} as stale,
      created_at < now() - interval '24 hours' as expired
    from idempotency_keys where user_id = ${userId} and scope = ${scope} and key = ${key}`;
  return row;
}

/** Holds the key on for its prediction; false when somebody else has taken it. */
export async function renewIdempotencyKey(
  sql: Sql,
  { userId, scope, key }: IdempotencyScope,
  predictionId: string,
): Promise<boolean> {
  const rows = await sql`
    update idempotency_keys set created_at = now()
    where user_id = ${userId} and scope = ${scope} and key = ${key} and prediction_id = ${predictionId}
    returning 1`;
  return rows.length > 0;
}

/** Gives the key free again, if it is still that prediction's. */
export async function dropIdempotencyKey(
  sql: Sql,
  { userId, scope, key }: IdempotencyScope,
  predictionId: string,
): Promise<void> {
  await sql`
    delete from idempotency_keys
    where user_id = ${userId} and scope = ${scope} and key = ${key} and prediction_id = ${predictionId}`;
}
