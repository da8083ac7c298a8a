import { type PutPlanBody, planNamePattern } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import type { AccountsContext } from "./context.ts";
import { type Plan, upsertPlan } from "./plan-store.ts";

/** Creates a plan or changes its limits, for everyone who has it, from the next request on. */
export async function putPlan(
  { database }: AccountsContext,
  name: string,
  { requests_per_minute: requestsPerMinute, parallel, storage_bytes: storageBytes }: PutPlanBody,
): Promise<{ plan: Plan; created: boolean }> {
  if (!planNamePattern.test(name)) {
    const msg = "A plan's name has 1 to 39 of a-z, 0-9 and -, and does not begin with -";
    throw fault("value_error", msg, { loc: ["path", "name"] });
  }
  return database.transaction((tx) => upsertPlan(tx, { name, requestsPerMinute, parallel, storageBytes }));
}
