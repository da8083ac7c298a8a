import { builtInPlans, type PutPlanBody, planNamePattern } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import type { AccountsContext, Page } from "./context.ts";
import type { Range } from "./store.ts";

/** All plans by name. */
export async function listPlans({ database }: AccountsContext, range: Range): Promise<Page<Plan>> {
  const [entries, total] = await Promise.all([selectPlans(database.sql, range), countPlans(database.sql)]);
  return { entries, total };
}

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

/** Removes a plan that nobody has. */
export async function deletePlan({ database }: AccountsContext, name: string): Promise<void> {
  if (builtInPlans.some((one) => one === name)) throw fault("conflict", "A built-in plan cannot be deleted");
  await database.transaction(async (tx) => {
    // A text that cannot be a name never reaches the database.
    const plan = planNamePattern.test(name) ? await lockPlan(tx, name) : undefined;
    if (!plan) throw fault("not_found", "Plan not found");
    if (plan.users > 0) throw fault("conflict", `${plan.users} users have this plan`);
    await deletePlanRow(tx, name);
  });
}

/** Refuses a plan that is none; one that is stays until the end of the transaction. */
export async function requirePlan(tx: Sql, name: string): Promise<void> {
  if (planNamePattern.test(name) && (await keepPlan(tx, name))) return;
  const expected = await selectPlanNames(tx);
  throw fault("one_of", "There is no such plan", { loc: ["body", "plan"], ctx: { expected } });
}

export interface Plan {
  name: string;
  /** Null: no limit. */
  requestsPerMinute: number | null;
  parallel: number | null;
  /** Of each user; null: as the server is set; 0: no quota. */
  storageBytes: number | null;
  /** How many have it; the owners of the built-in models are none. */
  users: number;
}

const planFields = (sql: Sql) => sql`
  p.name, p.requests_per_minute as "requestsPerMinute", p.parallel, p.storage_bytes as "storageBytes",
  (select count(*)::int from users u where u.plan = p.name and u.role <> 'system') as users`;

async function selectPlans(sql: Sql, { limit, offset }: Range): Promise<Plan[]> {
  return sql<Plan[]>`select ${planFields(sql)} from plans p order by p.name limit ${limit} offset ${offset}`;
}

async function countPlans(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from plans`;
  return row?.count ?? 0;
}

async function selectPlanNames(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`select name from plans order by name`;
  return rows.map((row) => row.name);
}

/** A quota that is left out stays as it is. Every admission reads the limits in the database, so the next one on any node goes by these. */
async function upsertPlan(
  sql: Sql,
  {
    name,
    requestsPerMinute,
    parallel,
    storageBytes,
  }: Omit<Plan, "users" | "storageBytes"> & { storageBytes: number | null | undefined },
): Promise<{ plan: Plan; created: boolean }> {
  const [written] = await sql<{ created: boolean }[]>`
    insert into plans as p (name, requests_per_minute, parallel, storage_bytes)
    values (${name}, ${requestsPerMinute}, ${parallel}, ${storageBytes ?? null})
    on conflict (name) do update
      set requests_per_minute = excluded.requests_per_minute, parallel = excluded.parallel,
        storage_bytes = case when ${storageBytes === undefined} then p.storage_bytes else excluded.storage_bytes end
    returning xmax = 0 as created`;
  const [plan] = await sql<Plan[]>`select ${planFields(sql)} from plans p where p.name = ${name}`;
  if (!written || !plan) throw new Error("a plan was written and is not there");
  return { plan, created: written.created };
}

/** It stays until the end of the transaction. */
async function keepPlan(sql: Sql, name: string): Promise<boolean> {
  const rows = await sql`select 1 from plans where name = ${name} for key share`;
  return rows.length > 0;
}

/** Nobody gets it until the end of the transaction. */
async function lockPlan(sql: Sql, name: string): Promise<Plan | undefined> {
  await sql`select 1 from plans where name = ${name} for update`;
  // Counted by a second statement: who got it while this one waited for the lock is seen now.
  const [plan] = await sql<Plan[]>`select ${planFields(sql)} from plans p where p.name = ${name}`;
  return plan;
}

async function deletePlanRow(sql: Sql, name: string): Promise<void> {
  await sql`delete from plans where name = ${name}`;
}
