import { type ChangeUserBody, type CreateUserBody, newId, type UserKind } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import { record } from "../audit/index.ts";
import type { AccountsContext, Page } from "./context.ts";
import { hashPassword } from "./password.ts";
import { checkNewPassword } from "./passwords/check-new-password.ts";
import { deleteResetOf } from "./passwords/password-store.ts";
import { requirePlan } from "./plans.ts";
import { endSessions } from "./sessions.ts";
import {
  announceChange,
  countUsers,
  findUser,
  insertUser,
  isLastAdmin,
  lockUserAndAdmins,
  type Range,
  selectUsers,
  type User,
  updateUser,
} from "./store.ts";

export async function createUser(context: AccountsContext, wanted: CreateUserBody): Promise<User> {
  const { database, clock } = context;
  const user = {
    id: newId("user"),
    username: wanted.username,
    role: wanted.role ?? "user",
    plan: wanted.plan ?? "free",
    createdAt: clock.now(),
  };
  const passwordHash = (await hashOf(context, wanted.password, user.username)) ?? null;
  const inserted = await database.transaction(async (tx) => {
    await requirePlan(tx, user.plan);
    if (!(await insertUser(tx, { ...user, passwordHash }))) return false;
    const after = fieldsOf({ ...user, disabledAt: null }, passwordHash ?? undefined);
    await record(tx, { action: "user.create", object: { id: user.id, name: user.username }, ownerId: user.id, after });
    return true;
  });
  if (!inserted) throw fault("conflict", "This username is taken");
  return { ...user, kind: "person", disabledAt: null, deletionRequestedAt: null };
}

export async function readUser({ database }: AccountsContext, username: string): Promise<User> {
  const user = await findUser(database.sql, username);
  if (!user) throw fault("not_found", "User not found");
  return user;
}

/** Newest first, without system users. */
export async function listUsers({ database }: AccountsContext, range: Range, kind?: UserKind): Promise<Page<User>> {
  const [entries, total] = await Promise.all([selectUsers(database.sql, range, kind), countUsers(database.sql, kind)]);
  return { entries, total };
}

/** Keys of a disabled user stop working and work again after it is enabled. One active admin always remains. */
export async function changeUser(
  context: AccountsContext,
  username: string,
  change: ChangeUserBody,
  /** A new password ends the sessions of the user, but not the admin's own. */
  by?: { keyPublic: string },
): Promise<User> {
  const { database, clock, forgetUser } = context;
  const passwordHash = await hashOf(context, change.password, username);
  const changed = await database.transaction(async (tx) => {
    const locked = await lockUserAndAdmins(tx, username);
    const user = locked.find((candidate) => candidate.username === username);
    if (!user) throw fault("not_found", "User not found");
    if (user.deletionRequestedAt) throw fault("conflict", "This account is being deleted and cannot be changed.");
    refuseSignInOfTeam(user, change);
    if (change.plan !== undefined) await requirePlan(tx, change.plan);
    const after: User = {
      ...user,
      role: change.role ?? user.role,
      plan: change.plan ?? user.plan,
      disabledAt:
        change.disabled === undefined ? user.disabledAt : change.disabled ? (user.disabledAt ?? clock.now()) : null,
    };
    if (!isActiveAdmin(after) && isLastAdmin(locked, user.id)) {
      throw fault("conflict", "The last active admin cannot be disabled or lose the role. Create another admin first.");
    }
    await updateUser(tx, user.id, { ...after, passwordHash });
    if (passwordHash !== undefined) {
      await deleteResetOf(tx, user.id);
      await endSessions(tx, user.id, clock.now(), { except: by?.keyPublic });
    }
    await announceChange(tx, user.id);
    await record(tx, {
      action: "user.update",
      object: { id: user.id, name: username },
      ownerId: user.id,
      before: fieldsOf(user),
      after: fieldsOf(after, passwordHash),
    });
    return after;
  });
  forgetUser(changed.id);
  return changed;
}

/** Of a password, only that it was set or removed. */
function fieldsOf({ role, plan, disabledAt }: Pick<User, "role" | "plan" | "disabledAt">, hash?: string | null) {
  const password = hash === undefined ? undefined : hash === null ? "removed" : "set";
  return { role, plan, disabled: disabledAt !== null, password };
}

function refuseSignInOfTeam({ kind }: User, { role, password }: ChangeUserBody): void {
  if (kind === "person" || (role !== "admin" && password == null)) return;
  throw fault("conflict", "A team cannot sign in or be an admin. Its members act for it with their own rights.");
}

/** Null removes the password; undefined leaves it. */
async function hashOf(context: AccountsContext, password: string | null | undefined, username: string) {
  if (password == null) return password;
  checkNewPassword(context, password, username, ["body", "password"]);
  return context.hasher.run(() => hashPassword(password));
}

function isActiveAdmin(user: User): boolean {
  return user.role === "admin" && user.disabledAt === null;
}
