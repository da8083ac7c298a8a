import type { Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import type { Caller } from "./caller.ts";
import type { AccountsContext } from "./context.ts";
import { mayManage } from "./key-reach.rules.ts";
import { linkMs, newSignInToken } from "./sign-in-link.rules.ts";
import { insertSignInLink } from "./sign-in-store.ts";
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
