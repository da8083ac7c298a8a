import { usernamePattern } from "@gantry/wire";
import { type Fault, fault } from "../../../kernel/errors.ts";
import { record } from "../../audit/index.ts";
import type { AccountsContext, Caller } from "../context.ts";
import { openOwnSession } from "../own-session.ts";
import { hashPassword, isOutdated, nobodysHash, verifyPassword } from "../password.ts";
import { endSessions } from "../sessions.ts";
import type { Client } from "../sign-in-options.ts";
import { requireWay } from "../sign-in-ways.ts";
import { announceChange } from "../store.ts";
import { bucketsOf, returnAttempt, takeAttempt } from "./attempts.ts";
import { checkNewPassword } from "./check-new-password.ts";
import { deviceOf, newDeviceMark } from "./device-mark.ts";
import { deleteResetOf, findPassword, lockPassword, replacePassword } from "./password-store.ts";

export interface SignedIn {
  session: string;
  /** For a cookie that outlives the session. */
  device: string | undefined;
}

/** The same text and the same time for all causes, so that guessing reveals nothing. */
export async function signInWithPassword(
  context: AccountsContext,
  { username: given, password }: { username: string; password: string },
  client: Client,
  mark?: string,
): Promise<SignedIn> {
  requireWay(context, "password");
  const { database, signIn, hasher, clock } = context;
  const username = given.trim().toLowerCase();
  // The slot comes first: a request that waits for it has taken no attempt, and the table grows only as fast as hashes.
  return hasher.run(async () => {
    const user = usernamePattern.test(username) ? await findPassword(database.sql, username) : undefined;
    const buckets = bucketsOf(username, deviceOf(signIn.vault, user?.userId, mark), client);
    await takeAttempt(database.sql, buckets);
    const isRight = await verifyPassword(password, user?.hash ?? nobodysHash);
    if (!user?.hash || !isRight) throw wrongPassword();
    const { userId, hash } = user;
    const raised = isOutdated(hash) ? await hashPassword(password) : undefined;
    const session = await database.transaction(async (tx) => {
      // A new password ends all sessions: none may begin with the former one after that.
      if (!(await lockPassword(tx, userId, hash))) throw wrongPassword();
      if (raised !== undefined) await replacePassword(tx, userId, hash, raised);
      return openOwnSession(tx, { userId, username, way: "password", client }, clock.now());
    });
    await returnAttempt(database.sql, buckets);
    return { session, device: newDeviceMark(signIn.vault, userId) };
  });
}

function wrongPassword(): Fault {
  return fault("unauthorized", "Wrong username or password.");
}

/** Ends all other sessions of the user. */
export async function changePassword(
  context: AccountsContext,
  caller: Caller,
  given: { current_password: string; new_password: string },
  client: Client,
): Promise<void> {
  requireWay(context, "password");
  const { database, hasher, clock } = context;
  checkNewPassword(context, given.new_password, caller.username, ["body", "new_password"]);
  await hasher.run(async () => {
    const user = await findPassword(database.sql, caller.username);
    if (!user?.hash) {
      throw fault("conflict", "Your account has no password. Ask an admin for a link with which you can set one.");
    }
    // A stolen session must not be able to guess the password.
    const buckets = bucketsOf(caller.username, `change ${caller.userId}`, client);
    await takeAttempt(database.sql, buckets);
    if (!(await verifyPassword(given.current_password, user.hash))) {
      throw fault("value_error", "This is not your current password", { loc: ["body", "current_password"] });
    }
    const hash = await hashPassword(given.new_password);
    await database.transaction(async (tx) => {
      if (!(await replacePassword(tx, caller.userId, user.hash, hash))) {
        throw fault("conflict", "The password was changed in the meantime. Sign in again.");
      }
      await deleteResetOf(tx, caller.userId);
      await endSessions(tx, caller.userId, clock.now(), { except: caller.keyPublic });
      await announceChange(tx, caller.userId);
      await record(tx, {
        action: "user.change_password",
        object: { id: caller.userId, name: caller.username },
        ownerId: caller.userId,
      });
    });
    await returnAttempt(database.sql, buckets);
  });
  context.forgetUser(caller.userId);
}
