import { hash, randomBytes } from "node:crypto";
import type { Sql } from "../../engines/database/database.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { AccountsContext, Caller } from "./context.ts";
import { mayManage } from "./key-reach.rules.ts";
import { storeKey } from "./keys.ts";
import { sessionMs, storeSession } from "./sessions.ts";
import { findUser } from "./store.ts";

/** A link with its token, which exists only in this answer. */
export interface NewSignInLink {
  token: string;
  expiresAt: Date;
}

const unlimited = { models: null, expiresAt: null, monthlyLimitMicros: null };

/** A link for the caller itself. Who signs in with it may do all that the user may: it is worth a key without limits. */
export async function makeSignInLink(context: AccountsContext, caller: Caller): Promise<NewSignInLink> {
  if (!mayManage(caller, unlimited)) {
    throw fault("forbidden", "A restricted key cannot make a sign-in link, which reaches further");
  }
  return storeSignInLink(context.database.sql, caller.userId, context.clock.now(), linkMs);
}

/** A link for another user, made by an admin, as a key for that user would be. */
export async function makeSignInLinkFor(context: AccountsContext, username: string): Promise<NewSignInLink> {
  const user = await findUser(context.database.sql, username);
  if (!user) throw fault("not_found", "User not found");
  return storeSignInLink(context.database.sql, user.id, context.clock.now(), linkMs);
}

export async function storeSignInLink(sql: Sql, userId: string, now: Date, lifeMs: number): Promise<NewSignInLink> {
  const { token, hash } = newSignInToken();
  const expiresAt = new Date(now.getTime() + lifeMs);
  await insertSignInLink(sql, { hash, userId, expiresAt, createdAt: now });
  return { token, expiresAt };
}

/**
 * Spends a link on a key of its user, which nobody gets to see, and answers the session that is opened with it.
 *
 *     made ──used, in time, its user not disabled──► gone, and a session is open
 *       └────out of time──► of no use, until it is swept
 *
 * `isKnown` tells of all that are asked about at the same time at once, as invented keys are looked up: a flood of
 * invented links holds one connection.
 */
export async function useSignInLink(
  { database, clock }: AccountsContext,
  isKnown: (hash: Buffer) => Promise<boolean>,
  token: string,
): Promise<string> {
  const hash = tokenHash(token);
  if (!hash || !(await isKnown(hash))) throw useless();
  return database.transaction(async (tx) => {
    const now = clock.now();
    const userId = await takeSignInLink(tx, hash, now);
    if (userId === undefined) throw useless();
    const sessionEndsAt = new Date(now.getTime() + sessionMs);
    const session = { name: "Console", models: null, monthlyLimitMicros: null, expiresAt: null, sessionEndsAt };
    const { record } = await storeKey(tx, userId, session, now);
    return storeSession(tx, { keyId: record.id, keyPublic: record.public }, now);
  });
}

/** One sentence for all: whoever guesses learns nothing about what there is. */
function useless(): Fault {
  return fault("unauthorized", "This sign-in link was used or has expired: make a new one", {
    headers: { "www-authenticate": "Bearer" },
  });
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Whoever starts a server for the first time may look at what it printed on the next day. */
export const firstLinkMs = 24 * hourMs;
export const linkMs = 15 * minuteMs;

/** 32 bytes in base64url. */
const tokenForm = /^[\w-]{43}$/;

export interface SignInToken {
  /** To be shown once. */
  token: string;
  hash: Buffer;
}

export function newSignInToken(): SignInToken {
  const token = randomBytes(32).toString("base64url");
  return { token, hash: hash("sha256", token, "buffer") };
}

/** What a token is stored by; undefined for a text that cannot be one. */
export function tokenHash(presented: string): Buffer | undefined {
  return tokenForm.test(presented) ? hash("sha256", presented, "buffer") : undefined;
}

/** The token stands behind the #, which browsers send to nobody: no log and no proxy on the way sees it. */
export function signInUrl(base: string, token: string): string {
  return `${base}/console/sign-in#${token}`;
}

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

/** Returns how many were deleted: fewer than the limit means that none are left. */
export async function deleteSignInLinks(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from sign_in_links where token_hash in (
      select token_hash from sign_in_links where expires_at < ${before} limit ${limit} for update skip locked
    )`;
  return count;
}
