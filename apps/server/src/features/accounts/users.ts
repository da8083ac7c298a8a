import { type ChangeUserBody, type CreateUserBody, newId } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import type { AccountsContext, Page } from "./context.ts";
import { hashPassword } from "./password.ts";
import { requirePlan } from "./plans.ts";
import {
  announceChange,
  countUsers,
  insertUser,
  lockUserAndAdmins,
  type Range,
  selectUsers,
  type User,
  updateUser,
} from "./store.ts";

export async function createUser({ database, clock }: AccountsContext, wanted: CreateUserBody): Promise<User> {
  const user = {
    id: newId("user"),
    username: wanted.username,
    role: wanted.role ?? "user",
    plan: wanted.plan ?? "free",
    createdAt: clock.now(),
  };
  const passwordHash = wanted.password === undefined ? null : await hashPassword(wanted.password);
  const inserted = await database.transaction(async (tx) => {
    await requirePlan(tx, user.plan);
    return insertUser(tx, { ...user, passwordHash });
  });
  if (!inserted) throw fault("conflict", "This username is taken");
  return { ...user, disabledAt: null };
}

/** Newest first, without system users. */
export async function listUsers({ database }: AccountsContext, range: Range): Promise<Page<User>> {
  const [entries, total] = await Promise.all([selectUsers(database.sql, range), countUsers(database.sql)]);
  return { entries, total };
}

/** Keys of a disabled user stop working and work again after it is enabled. One active admin always remains. */
export async function changeUser(context: AccountsContext, username: string, change: ChangeUserBody): Promise<User> {
  const { database, clock, forgetUser } = context;
  const passwordHash = change.password == null ? change.password : await hashPassword(change.password);
  const changed = await database.transaction(async (tx) => {
    const locked = await lockUserAndAdmins(tx, username);
    const user = locked.find((candidate) => candidate.username === username);
    if (!user) throw fault("not_found", "User not found");
    if (change.plan !== undefined) await requirePlan(tx, change.plan);
    const after: User = {
      ...user,
      role: change.role ?? user.role,
      plan: change.plan ?? user.plan,
      disabledAt:
        change.disabled === undefined ? user.disabledAt : change.disabled ? (user.disabledAt ?? clock.now()) : null,
    };
    const adminsAfter = locked.map((one) => (one === user ? after : one)).filter(isActiveAdmin);
    if (adminsAfter.length === 0) {
      throw fault("conflict", "The last active admin cannot be disabled or lose the role. Create another admin first.");
    }
    await updateUser(tx, user.id, { ...after, passwordHash });
    await announceChange(tx, user.id);
    return after;
  });
  forgetUser(changed.id);
  return changed;
}

function isActiveAdmin(user: User): boolean {
  return user.role === "admin" && user.disabledAt === null;
}
