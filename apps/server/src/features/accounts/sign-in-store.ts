import type { Sql } from "../../engines/database/database.ts";
import type { Caller } from "./caller.ts";

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

/**
 * A session of a key. Opened with a secret that a rotation has replaced, it ends with that secret's grace. False when the
 * secret works no longer: the row of the key is locked, so that no rotation comes in between. Only the newest sessions of
 * a key are kept.
 */
export async function insertSession(
  sql: Sql,
  { keyId, keyPublic }: Pick<Caller, "keyId" | "keyPublic">,
  session: { public: string; hash: Uint8Array; validUntil: Date },
  most: number,
): Promise<boolean> {
  const opened = await sql`
    insert into retired_key_pairs (public, key_id, secret_hash, valid_until, of_session, in_grace)
    select ${session.public}, k.id, ${session.hash}, least(${session.validUntil}::timestamptz, p.valid_until), true,
      p.public is not null
    from api_keys k left join retired_key_pairs p on p.key_id = k.id and p.public = ${keyPublic}
    where k.id = ${keyId} and (k.public = ${keyPublic} or p.public is not null)
    for share of k
    returning 1`;
  await sql`
    delete from retired_key_pairs where key_id = ${keyId} and of_session and public in (
      select public from retired_key_pairs where key_id = ${keyId} and of_session
      order by valid_until desc, public offset ${most})`;
  return opened.length === 1;
}

export async function deleteSession(sql: Sql, keyId: string, hash: Uint8Array): Promise<void> {
  await sql`delete from retired_key_pairs where key_id = ${keyId} and of_session and secret_hash = ${hash}`;
}
