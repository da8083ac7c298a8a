import { type Fault, fault } from "../../../kernel/errors.ts";
import { actorIsUser, record } from "../../audit/index.ts";
import type { AccountsContext } from "../context.ts";
import { hashOfToken, newToken } from "../one-time-token.ts";
import { openOwnSession } from "../own-session.ts";
import { hashPassword } from "../password.ts";
import { endSessions } from "../sessions.ts";
import type { NewSignInLink } from "../sign-in-links.ts";
import type { Client } from "../sign-in-options.ts";
import { requireWay } from "../sign-in-ways.ts";
import { announceChange, findUser } from "../store.ts";
import { checkNewPassword } from "./check-new-password.ts";
import { newDeviceMark } from "./device-mark.ts";
import { findReset, putReset, setPasswordHash, takeReset } from "./password-store.ts";
import type { SignedIn } from "./passwords.ts";

const resetMs = 24 * 3_600_000;

/** For admins. An earlier link of the user stops working. */
export async function makePasswordReset(context: AccountsContext, username: string): Promise<NewSignInLink> {
  requireWay(context, "password");
  const { database, clock } = context;
  const user = await findUser(database.sql, username);
  if (!user) throw fault("not_found", "User not found");
  if (user.kind !== "person") throw fault("conflict", "A team cannot sign in. Its members act for it.");
  const now = clock.now();
  const { token, tokenHash } = newToken();
  const expiresAt = new Date(now.getTime() + resetMs);
  const object = { id: user.id, name: username };
  await database.transaction(async (tx) => {
    await putReset(tx, { userId: user.id, tokenHash, expiresAt, now });
    await record(tx, { action: "user.create_reset_link", object, ownerId: user.id, after: { expires_at: expiresAt } });
  });
  return { token, expiresAt };
}

/** Sets the password, ends all sessions of the user and opens a new one. A refused password does not use the link up. */
export async function usePasswordReset(
  context: AccountsContext,
  { token, password }: { token: string; password: string },
  client: Client,
): Promise<SignedIn> {
  requireWay(context, "password");
  const { database, clock, hasher, signIn, forgetUser } = context;
  const tokenHash = hashOfToken(token);
  const user = tokenHash && (await findReset(database.sql, tokenHash, clock.now()));
  if (!user) throw uselessLink();
  checkNewPassword(context, password, user.username, ["body", "password"]);
  const passwordHash = await hasher.run(() => hashPassword(password));
  const session = await database.transaction(async (tx) => {
    const now = clock.now();
    // The user is locked before its link, as in a change of the password.
    await setPasswordHash(tx, user.userId, passwordHash);
    if (!(await takeReset(tx, tokenHash, now))) throw uselessLink();
    await endSessions(tx, user.userId, now, {});
    await announceChange(tx, user.userId);
    await actorIsUser(tx, user.userId);
    const object = { id: user.userId, name: user.username };
    const done = [{ action: "user.reset_password", object, ownerId: user.userId } as const];
    return openOwnSession(tx, { ...user, way: "password", client }, now, done);
  });
  forgetUser(user.userId);
  return { session, device: newDeviceMark(signIn.vault, user.userId) };
}

function uselessLink(): Fault {
  return fault("unauthorized", "This link was used or has expired. Ask an admin for a new one.");
}

/** Browsers do not send the part after #, so no log or proxy sees the token. */
export function passwordResetUrl(base: string, token: string): string {
  return `${base}/console/reset-password#${token}`;
}
