import type { SignInWay } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { actorIs, record } from "../audit/index.ts";
import { invalidKey } from "./authenticate.ts";
import type { AccountsContext, Caller } from "./context.ts";
import { digestOf, hashOf, newSessionPair } from "./key-format.rules.ts";
import { type Client, unknownClient } from "./sign-in-options.ts";
import { requireWay } from "./sign-in-ways.ts";
import { announceChange, lockUser } from "./store.ts";

export const sessionMs = 12 * 3_600_000;
const maxPerKey = 100;

/**
 * Returns the token of a new console session (see `asPresentedSession`). A session has the reach of its key and ends with
 * it, at the latest with the grace period of the presented secret.
 */
export async function openSession(
  context: AccountsContext,
  caller: Caller,
  client: Client = unknownClient,
): Promise<string> {
  requireWay(context, "key");
  if (caller.team) {
    throw fault("forbidden", "A key of a team cannot sign in. Sign in as yourself, then switch to the team.");
  }
  return context.database.transaction(async (tx) => {
    const session = await storeSession(tx, caller, { way: "key", client }, context.clock.now());
    await recordSession(tx, "session.open", caller, { by: "key" });
    return session;
  });
}

/** The caller becomes the actor: routes for signing in and out know it only from here. */
export function recordSession(
  tx: Sql,
  action: "session.open" | "session.close",
  {
    userId,
    username,
    keyId,
    keyPublic,
    keyName,
  }: Pick<Caller, "userId" | "username" | "keyId" | "keyPublic" | "keyName">,
  after?: { by: SignInWay },
): Promise<void> {
  actorIs({ id: userId, username, keyId, keyPublic, session: action === "session.close" });
  return record(tx, { action, object: { id: keyId, name: keyName }, ownerId: userId, after });
}

export interface Origin {
  way: SignInWay;
  client: Client;
}

export async function storeSession(
  sql: Sql,
  opener: Pick<Caller, "keyId" | "keyPublic">,
  { way, client }: Origin,
  now: Date,
): Promise<string> {
  const { key, public: publicPart, hash } = newSessionPair();
  const validUntil = new Date(now.getTime() + sessionMs);
  const isOpen = await insertSession(
    sql,
    opener,
    { public: publicPart, hash, validUntil, createdAt: now, way, client },
    maxPerKey,
  );
  // The key was rotated without a grace period meanwhile.
  if (!isOpen) throw invalidKey();
  return key;
}

/** An API key used to sign in keeps working. The key of a sign-in link ends, but work it started goes on. */
export async function endSession(context: AccountsContext, caller: Caller, presented: string): Promise<void> {
  const { userId, keyId } = caller;
  await context.database.transaction(async (tx) => {
    await lockUser(tx, userId);
    await deleteSession(tx, keyId, hashOf(digestOf(presented)));
    await markSessionEnded(tx, keyId, context.clock.now());
    await announceChange(tx, userId);
    await recordSession(tx, "session.close", caller);
  });
  context.forgetUser(userId);
}

/** And unused sign-in links, which would open new ones. The caller announces the change. Work that the sessions have started goes on. */
export async function endSessions(
  sql: Sql,
  userId: string,
  now: Date,
  { except = "" }: { except?: string | undefined },
): Promise<void> {
  await sql`
    update api_keys k set session_ends_at = ${now}
    where k.user_id = ${userId} and k.revoked_at is null and k.session_ends_at > ${now}
      and not exists (select from retired_key_pairs p where p.key_id = k.id and p.public = ${except})`;
  await sql`
    delete from retired_key_pairs p using api_keys k
    where p.key_id = k.id and k.user_id = ${userId} and p.of_session and p.public <> ${except}`;
  await sql`delete from sign_in_links where user_id = ${userId}`;
}

/** Does not change an API key. */
export async function markSessionEnded(sql: Sql, keyId: string, now: Date): Promise<void> {
  await sql`update api_keys set session_ends_at = ${now} where id = ${keyId} and session_ends_at > ${now}`;
}

/**
 * False if the presented secret no longer works: the lock on the key keeps rotations out meanwhile. Deletes all but the
 * newest sessions of the key.
 */
async function insertSession(
  sql: Sql,
  { keyId, keyPublic }: Pick<Caller, "keyId" | "keyPublic">,
  session: Origin & { public: string; hash: Uint8Array; validUntil: Date; createdAt: Date },
  most: number,
): Promise<boolean> {
  const opened = await sql`
    insert into retired_key_pairs (public, key_id, secret_hash, valid_until, of_session, in_grace, created_at,
                                   sign_in_way, address, user_agent)
    select ${session.public}, k.id, ${session.hash}, least(${session.validUntil}::timestamptz, p.valid_until), true,
      p.public is not null, ${session.createdAt}, ${session.way}, ${session.client.address}::text,
      ${session.client.userAgent}::text
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

/**
 * The row stays for the ledger. Work started with the key of a session has ended long before, except for what goes on with
 * the key of its creator.
 */
export async function revokeEndedSessions(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    update api_keys set revoked_at = session_ends_at where id in (
      select k.id from api_keys k where k.session_ends_at < ${before} and k.revoked_at is null
        and not exists (select from schedules s where s.key_id = k.id)
        and not exists (select from triggers t where t.key_id = k.id)
        and not exists (select from drive_indexes i where i.key_id = k.id)
      limit ${limit} for update skip locked
    )`;
  return count;
}
