import type { Sql } from "../../engines/database/database.ts";

export async function insertSignInLink(
  sql: Sql,
  link: { hash: Uint8Array; userId: string; expiresAt: Date; createdAt: Date },
): Promise<void> {
  await sql`
    insert into sign_in_links (token_hash, user_id, expires_at, created_at)
    values (${link.hash}, ${link.userId}, ${link.expiresAt}, ${link.createdAt})`;
}

/** Those of the hashes, in hex, that there is a link of, whatever else is to be said of it. */
export async function selectSignInLinks(sql: Sql, hashes: readonly Uint8Array[]): Promise<Set<string>> {
  const rows = await sql<{ hash: string }[]>`
    select encode(token_hash, 'hex') as hash from sign_in_links where token_hash = any(${hashes as Buffer[]}::bytea[])`;
  return new Set(rows.map((row) => row.hash));
}

/** Takes a link that is in force, for good; answers whose it was. Of several at once one gets it. */
export async function takeSignInLink(sql: Sql, hash: Uint8Array, now: Date): Promise<string | undefined> {
  const [row] = await sql<{ userId: string }[]>`
    delete from sign_in_links l using users u
    where l.token_hash = ${hash} and l.expires_at > ${now} and u.id = l.user_id and u.disabled_at is null
    returning l.user_id as "userId"`;
  return row?.userId;
}

/** A key that is no session stays as it is. */
export async function markSessionEnded(sql: Sql, keyId: string, now: Date): Promise<void> {
  await sql`update api_keys set session_ends_at = ${now} where id = ${keyId} and session_ends_at > ${now}`;
}

/** Being signed in with a key, for a while. Of a key that somebody signs in with again and again, the newest are kept. */
export async function insertSession(
  sql: Sql,
  session: { keyId: string; public: string; hash: Uint8Array; validUntil: Date },
  most: number,
): Promise<void> {
  await sql`
    insert into retired_key_pairs (public, key_id, secret_hash, valid_until, of_session)
    values (${session.public}, ${session.keyId}, ${session.hash}, ${session.validUntil}, true)`;
  await sql`
    delete from retired_key_pairs where key_id = ${session.keyId} and of_session and public in (
      select public from retired_key_pairs where key_id = ${session.keyId} and of_session
      order by valid_until desc, public offset ${most})`;
}

export async function deleteSession(sql: Sql, keyId: string, hash: Uint8Array): Promise<void> {
  await sql`delete from retired_key_pairs where key_id = ${keyId} and of_session and secret_hash = ${hash}`;
}
