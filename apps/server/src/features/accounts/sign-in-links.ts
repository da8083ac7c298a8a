import { hash, randomBytes } from "node:crypto";
import type { Sql } from "../../engines/database/database.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { AccountsContext, Caller } from "./context.ts";
import { mayManage } from "./key-reach.rules.ts";
import { storeKey } from "./keys.ts";
import { sessionMs, storeSession } from "./sessions.ts";
import { findUser } from "./store.ts";

/** The token is not stored. */
export interface NewSignInLink {
  token: string;
  expiresAt: Date;
}

/** A day for the link of the first start, which an operator may see only the next morning. */
export const firstLinkMs = 24 * 3_600_000;
const linkMs = 15 * 60_000;
/** 32 bytes in base64url. */
const tokenForm = /^[\w-]{43}$/;
const unlimited = { models: null, expiresAt: null, monthlyLimitMicros: null };

/** A sign-in link gives all rights of its user, like a key without limits. */
export async function makeSignInLink(context: AccountsContext, caller: Caller): Promise<NewSignInLink> {
  if (!mayManage(caller, unlimited)) {
    throw fault("forbidden", "A restricted key cannot create a sign-in link. Use a key without limits.");
  }
  return storeSignInLink(context.database.sql, caller.userId, context.clock.now());
}

/** For admins. */
export async function makeSignInLinkFor(context: AccountsContext, username: string): Promise<NewSignInLink> {
  const user = await findUser(context.database.sql, username);
  if (!user) throw fault("not_found", "User not found");
  return storeSignInLink(context.database.sql, user.id, context.clock.now());
}

export async function storeSignInLink(
  sql: Sql,
  userId: string,
  now: Date,
  lifeMs: number = linkMs,
): Promise<NewSignInLink> {
  const token = randomBytes(32).toString("base64url");
  const expiresAt = new Date(now.getTime() + lifeMs);
  await sql`
    insert into sign_in_links (token_hash, user_id, expires_at, created_at)
    values (${hash("sha256", token, "buffer")}, ${userId}, ${expiresAt}, ${now})`;
  return { token, expiresAt };
}

/** Exchanges a link for a console session with a key of its own, and returns the session's token. A link works once. */
export async function useSignInLink({ database, clock, isKnownLink }: AccountsContext, token: string): Promise<string> {
  const tokenHash = tokenForm.test(token) ? hash("sha256", token, "buffer") : undefined;
  if (!tokenHash || !(await isKnownLink(tokenHash))) throw invalidLink();
  return database.transaction(async (tx) => {
    const now = clock.now();
    const userId = await takeSignInLink(tx, tokenHash, now);
    if (userId === undefined) throw invalidLink();
    const sessionEndsAt = new Date(now.getTime() + sessionMs);
    const session = { name: "Console", ...unlimited, sessionEndsAt };
    const { record } = await storeKey(tx, userId, session, now);
    return storeSession(tx, { keyId: record.id, keyPublic: record.public }, now);
  });
}

/** The same text for all causes, so that guessing reveals nothing. */
function invalidLink(): Fault {
  return fault("unauthorized", "This sign-in link was used or has expired. Create a new one.", {
    headers: { "www-authenticate": "Bearer" },
  });
}

/** Browsers do not send the part after #, so no log or proxy sees the token. */
export function signInUrl(base: string, token: string): string {
  return `${base}/console/sign-in#${token}`;
}

/** Those of the hashes that belong to a link, valid or not, in hex. */
export async function selectSignInLinks(sql: Sql, hashes: readonly Uint8Array[]): Promise<Set<string>> {
  const rows = await sql<{ hash: string }[]>`
    select encode(token_hash, 'hex') as hash from sign_in_links where token_hash = any(${hashes as Buffer[]}::bytea[])`;
  return new Set(rows.map((row) => row.hash));
}

/** Deletes a valid link and returns its user. Of several concurrent calls one succeeds. */
async function takeSignInLink(sql: Sql, tokenHash: Uint8Array, now: Date): Promise<string | undefined> {
  const [row] = await sql<{ userId: string }[]>`
    delete from sign_in_links l using users u
    where l.token_hash = ${tokenHash} and l.expires_at > ${now} and u.id = l.user_id and u.disabled_at is null
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
