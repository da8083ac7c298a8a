import { planNamePattern } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { keepPlan, selectPlanNames } from "./plan-store.ts";

/** Refuses a plan that is none; one that is stays until the end of the transaction. */
export async function requirePlan(tx: Sql, name: string): Promise<void> {
  if (planNamePattern.test(name) && (await keepPlan(tx, name))) return;
  const expected = await selectPlanNames(tx);
  throw fault("one_of", "There is no such plan", { loc: ["body", "plan"], ctx: { expected } });
}
