import { builtInPlans, planNamePattern } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import type { AccountsContext } from "./context.ts";
import { deletePlan as deleteRow, lockPlan } from "./plan-store.ts";

/** Removes a plan that nobody has. */
export async function deletePlan({ database }: AccountsContext, name: string): Promise<void> {
  if (builtInPlans.some((one) => one === name)) throw fault("conflict", "A built-in plan cannot be deleted");
  await database.transaction(async (tx) => {
    // A text that cannot be a name never reaches the database.
    const plan = planNamePattern.test(name) ? await lockPlan(tx, name) : undefined;
    if (!plan) throw fault("not_found", "Plan not found");
    if (plan.users > 0) throw fault("conflict", `${plan.users} users have this plan`);
    await deleteRow(tx, name);
  });
}
