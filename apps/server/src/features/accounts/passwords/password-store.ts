import type { Sql } from "../../../engines/database/database.ts";
import { maySignIn } from "../sign-in-ways.ts";

export interface StoredPassword {
  userId: string;
  username: string;
  hash: string | null;
}

/** Of a user who may sign in. */
export async function findPassword(sql: Sql, username: string): Promise<StoredPassword | undefined> {
  const [row] = await sql<StoredPassword[]>`
    select id as "userId", username, password_hash as hash from users
    where username = ${username} and ${maySignIn(sql)}`;
  return row;
}

/** False if the password has changed meanwhile, or if the user may not sign in any more. */
export async function lockPassword(tx: Sql, userId: string, hash: string): Promise<boolean> {
  const rows = await tx`
    select 1 from users where id = ${userId} and password_hash = ${hash} and ${maySignIn(tx)} for no key update`;
  return rows.length === 1;
}

/** False if the password has changed meanwhile. */
export async function replacePassword(sql: Sql, userId: string, before: string | null, hash: string): Promise<boolean> {
  const { count } = await sql`
    update users set password_hash = ${hash}
    where id = ${userId} and password_hash is not distinct from ${before} and ${maySignIn(sql)}`;
  return count === 1;
}

export async function setPasswordHash(sql: Sql, userId: string, passwordHash: string): Promise<void> {
  await sql`update users set password_hash = ${passwordHash} where id = ${userId}`;
}

/** A user has one link at a time. */
export async function putReset(
  sql: Sql,
  reset: { userId: string; tokenHash: Uint8Array; expiresAt: Date; now: Date },
): Promise<void> {
  await sql`
    insert into password_resets (user_id, token_hash, expires_at, created_at)
    values (${reset.userId}, ${reset.tokenHash}, ${reset.expiresAt}, ${reset.now})
    on conflict (user_id) do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at,
      created_at = excluded.created_at`;
}

interface ResetUser {
  userId: string;
  username: string;
}

export async function findReset(sql: Sql, tokenHash: Uint8Array, now: Date): Promise<ResetUser | undefined> {
  const [row] = await sql<ResetUser[]>`
    select users.id as "userId", users.username from password_resets r join users on users.id = r.user_id
    where r.token_hash = ${tokenHash} and r.expires_at > ${now} and ${maySignIn(sql)}`;
  return row;
}

/** Of several concurrent calls one succeeds. */
export async function takeReset(sql: Sql, tokenHash: Uint8Array, now: Date): Promise<boolean> {
  const { count } = await sql`delete from password_resets where token_hash = ${tokenHash} and expires_at > ${now}`;
  return count === 1;
}

/** A link from before must not undo a password that was set since. */
export async function deleteResetOf(sql: Sql, userId: string): Promise<void> {
  await sql`delete from password_resets where user_id = ${userId}`;
}

/** Returns how many were deleted: fewer than the limit means that none are left. */
export async function deletePasswordResets(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from password_resets where user_id in (
      select user_id from password_resets where expires_at < ${before} limit ${limit} for update skip locked
    )`;
  return count;
}
