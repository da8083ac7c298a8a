import type { Sql } from "../../engines/database/database.ts";
import { invalidKey } from "./authenticate.ts";
import type { AccountsContext, Caller } from "./context.ts";
import { digestOf, hashOf, newSessionPair } from "./key-format.rules.ts";
import { announceChange } from "./store.ts";

export const sessionMs = 12 * 3_600_000;
const maxPerKey = 100;

/**
 * Returns the token of a new console session (see `asPresentedSession`). A session has the reach of its key and ends with
 * it, at the latest with the grace period of the presented secret.
 */
export function openSession({ database, clock }: AccountsContext, caller: Caller): Promise<string> {
  return database.transaction((tx) => storeSession(tx, caller, clock.now()));
}

export async function storeSession(sql: Sql, opener: Pick<Caller, "keyId" | "keyPublic">, now: Date): Promise<string> {
  const { key, public: publicPart, hash } = newSessionPair();
  const validUntil = new Date(now.getTime() + sessionMs);
  const isOpen = await insertSession(sql, opener, { public: publicPart, hash, validUntil }, maxPerKey);
  // The key was rotated without a grace period meanwhile.
  if (!isOpen) throw invalidKey();
  return key;
}

/** An API key used to sign in keeps working. The key of a sign-in link ends, but work it started goes on. */
export async function endSession(
  context: AccountsContext,
  { userId, keyId }: Caller,
  presented: string,
): Promise<void> {
  await context.database.transaction(async (tx) => {
    await deleteSession(tx, keyId, hashOf(digestOf(presented)));
    await markSessionEnded(tx, keyId, context.clock.now());
    await announceChange(tx, userId);
  });
  context.forgetUser(userId);
}

/** Does not change an API key. */
async function markSessionEnded(sql: Sql, keyId: string, now: Date): Promise<void> {
  await sql`update api_keys set session_ends_at = ${now} where id = ${keyId} and session_ends_at > ${now}`;
}

/**
 * False if the presented secret no longer works: the lock on the key keeps rotations out meanwhile. Deletes all but the
 * newest sessions of the key.
 */
async function insertSession(
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

async function deleteSession(sql: Sql, keyId: string, hash: Uint8Array): Promise<void> {
  await sql`delete from retired_key_pairs where key_id = ${keyId} and of_session and secret_hash = ${hash}`;
}

/** The row stays for the ledger. Work started with the key of a session has ended long before. */
export async function revokeEndedSessions(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    update api_keys set revoked_at = session_ends_at where id in (
      select id from api_keys where session_ends_at < ${before} and revoked_at is null
      limit ${limit} for update skip locked
    )`;
  return count;
}
