import type { Sql } from "../../engines/database/database.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import { record } from "../audit/index.ts";
import { lockCaller } from "./authenticate.ts";
import type { AccountsContext, Caller } from "./context.ts";
import { mayManage } from "./key-reach.rules.ts";
import { hashOfToken, newToken } from "./one-time-token.ts";
import { openOwnSession } from "./own-session.ts";
import { type Client, unknownClient } from "./sign-in-options.ts";
import { maySignIn, requireWay } from "./sign-in-ways.ts";
import { findUser } from "./store.ts";

/** The token is not stored. */
export interface NewSignInLink {
  token: string;
  expiresAt: Date;
}

/** A day for the link of the first start, which an operator may see only the next morning. */
export const firstLinkMs = 24 * 3_600_000;
const linkMs = 15 * 60_000;
const unlimited = { models: null, expiresAt: null, monthlyLimitMicros: null };

/** A sign-in link gives all rights of its user, like a key without limits. */
export async function makeSignInLink(context: AccountsContext, caller: Caller): Promise<NewSignInLink> {
  requireWay(context, "link");
  if (!mayManage(caller, unlimited)) {
    throw fault("forbidden", "A restricted key cannot create a sign-in link. Use a key without limits.");
  }
  return createSignInLink(context, { id: caller.userId, username: caller.username }, caller);
}

/** For admins. */
export async function makeSignInLinkFor(context: AccountsContext, username: string): Promise<NewSignInLink> {
  requireWay(context, "link");
  const user = await findUser(context.database.sql, username);
  if (!user) throw fault("not_found", "User not found");
  if (user.kind === "team") throw fault("conflict", "A team cannot sign in. Its members sign in as themselves.");
  return createSignInLink(context, user);
}

function createSignInLink(
  { database, clock }: AccountsContext,
  { id, username: name }: { id: string; username: string },
  caller?: Caller,
): Promise<NewSignInLink> {
  return database.transaction(async (tx) => {
    if (caller) await lockCaller(tx, caller, clock.now());
    const link = await storeSignInLink(tx, id, clock.now());
    const after = { expires_at: link.expiresAt };
    await record(tx, { action: "sign_in_link.create", object: { id, name }, ownerId: id, after });
    return link;
  });
}

export async function storeSignInLink(
  sql: Sql,
  userId: string,
  now: Date,
  lifeMs: number = linkMs,
): Promise<NewSignInLink> {
  const { token, tokenHash } = newToken();
  const expiresAt = new Date(now.getTime() + lifeMs);
  await sql`
    insert into sign_in_links (token_hash, user_id, expires_at, created_at)
    values (${tokenHash}, ${userId}, ${expiresAt}, ${now})`;
  return { token, expiresAt };
}

/** Exchanges a link for a console session with a key of its own, and returns the session's token. A link works once. */
export async function useSignInLink(
  context: AccountsContext,
  token: string,
  client: Client = unknownClient,
): Promise<string> {
  requireWay(context, "link");
  const { database, clock, isKnownLink } = context;
  const tokenHash = hashOfToken(token);
  if (!tokenHash || !(await isKnownLink(tokenHash))) throw invalidLink();
  return database.transaction(async (tx) => {
    const now = clock.now();
    const user = await takeSignInLink(tx, tokenHash, now);
    if (user === undefined) throw invalidLink();
    return openOwnSession(tx, { ...user, way: "link", client }, now);
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
async function takeSignInLink(sql: Sql, tokenHash: Uint8Array, now: Date): Promise<LinkUser | undefined> {
  const [row] = await sql<LinkUser[]>`
    delete from sign_in_links l using users
    where l.token_hash = ${tokenHash} and l.expires_at > ${now} and users.id = l.user_id and ${maySignIn(sql)}
    returning l.user_id as "userId", users.username`;
  return row;
}

interface LinkUser {
  userId: string;
  username: string;
}

/** Returns how many were deleted: fewer than the limit means that none are left. */
export async function deleteSignInLinks(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from sign_in_links where token_hash in (
      select token_hash from sign_in_links where expires_at < ${before} limit ${limit} for update skip locked
    )`;
  return count;
}
