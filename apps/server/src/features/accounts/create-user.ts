import { type CreateUserBody, newId } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import type { AccountsContext } from "./context.ts";
import { hashPassword } from "./password.ts";
import { requirePlan } from "./require-plan.ts";
import { insertUser, type User } from "./store.ts";

/** A new user, by default of the role `user` on the plan `free`. The body has passed its schema. */
export async function createUser({ database, clock }: AccountsContext, wanted: CreateUserBody): Promise<User> {
  const createdAt = clock.now();
  const user = {
    id: newId("user"),
    username: wanted.username,
    role: wanted.role ?? "user",
    plan: wanted.plan ?? "free",
    createdAt,
  };
  const passwordHash = wanted.password === undefined ? null : await hashPassword(wanted.password);
  const inserted = await database.transaction(async (tx) => {
    await requirePlan(tx, user.plan);
    return insertUser(tx, { ...user, passwordHash });
  });
  if (!inserted) throw fault("conflict", "This username is taken");
  return { ...user, disabledAt: null };
}
