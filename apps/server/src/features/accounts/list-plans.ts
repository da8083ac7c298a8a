import type { AccountsContext, Page } from "./context.ts";
import { countPlans, type Plan, selectPlans } from "./plan-store.ts";
import type { Range } from "./store.ts";

/** All plans by name. */
export async function listPlans({ database }: AccountsContext, range: Range): Promise<Page<Plan>> {
  const [entries, total] = await Promise.all([selectPlans(database.sql, range), countPlans(database.sql)]);
  return { entries, total };
}
