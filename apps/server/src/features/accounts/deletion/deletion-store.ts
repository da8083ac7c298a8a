import type { Sql } from "../../../engines/database/database.ts";

/** Returns when, by the clock of the database. */
export async function insertDeletion(tx: Sql, userId: string): Promise<Date> {
  const [row] = await tx<[{ requestedAt: Date }]>`
    insert into account_deletions (user_id) values (${userId}) returning requested_at as "requestedAt"`;
  return row.requestedAt;
}

/** From the commit on, nothing signs the user in and no key of it works. */
export async function endAccess(tx: Sql, userId: string, now: Date): Promise<void> {
  await tx`update users set disabled_at = coalesce(disabled_at, ${now}), password_hash = null where id = ${userId}`;
  await tx`update api_keys set revoked_at = ${now} where user_id = ${userId} and revoked_at is null`;
  await tx`delete from sign_in_links where user_id = ${userId}`;
  await tx`delete from password_resets where user_id = ${userId}`;
  await tx`delete from oidc_identities where user_id = ${userId}`;
}
