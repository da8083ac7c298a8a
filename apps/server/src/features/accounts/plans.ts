import { builtInPlans, type PutPlanBody, planNamePattern } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { record } from "../audit/index.ts";
import type { AccountsContext, Page } from "./context.ts";
import type { Range } from "./store.ts";

export interface Plan {
  name: string;
  /** Null: unlimited. */
  requestsPerMinute: number | null;
  parallel: number | null;
  /** Per user; null: the server's default; 0: unlimited. */
  storageBytes: number | null;
  /** Users with this plan, without system users. */
  users: number;
}

export async function listPlans({ database: { sql } }: AccountsContext, range: Range): Promise<Page<Plan>> {
  const [entries, [row]] = await Promise.all([
    sql<Plan[]>`select ${planFields(sql)} from plans p order by p.name limit ${range.limit} offset ${range.offset}`,
    sql<{ count: number }[]>`select count(*)::int as count from plans`,
  ]);
  return { entries, total: row?.count ?? 0 };
}

/** Admission reads the limits from the database, so a change applies from the next request. */
export async function putPlan(
  { database }: AccountsContext,
  name: string,
  body: PutPlanBody,
): Promise<{ plan: Plan; created: boolean }> {
  if (!planNamePattern.test(name)) {
    const msg = "A plan name must have 1 to 39 characters of a-z, 0-9 and -, and must not begin with -";
    throw fault("value_error", msg, { loc: ["path", "name"] });
  }
  return database.transaction(async (tx) => {
    const before = await findPlan(tx, name);
    const put = await upsertPlan(tx, name, body);
    await recordPlan(tx, "plan.put", before, put.plan);
    return put;
  });
}

function recordPlan(
  tx: Sql,
  action: "plan.put" | "plan.delete",
  before: Plan | undefined,
  after: Plan | undefined,
): Promise<void> {
  const { name = "" } = after ?? before ?? {};
  const sides = { before: before && limitsOf(before), after: after && limitsOf(after) };
  return record(tx, { action, object: { id: name, name }, ownerId: null, ...sides });
}

function limitsOf({ requestsPerMinute, parallel, storageBytes }: Plan) {
  return { requests_per_minute: requestsPerMinute, parallel, storage_bytes: storageBytes };
}

export async function deletePlan({ database }: AccountsContext, name: string): Promise<void> {
  if (builtInPlans.some((one) => one === name)) throw fault("conflict", "A built-in plan cannot be deleted");
  await database.transaction(async (tx) => {
    const plan = planNamePattern.test(name) ? await lockPlan(tx, name) : undefined;
    if (!plan) throw fault("not_found", "Plan not found");
    if (plan.users > 0) {
      throw fault("conflict", `The plan has ${plan.users} users. Move them to another plan first.`);
    }
    await tx`delete from plans where name = ${name}`;
    await recordPlan(tx, "plan.delete", plan, undefined);
  });
}

/** Refuses an unknown plan, and keeps a known one from being deleted until the transaction ends. */
/** The plan cannot be deleted until the transaction ends. */
export async function planExists(tx: Sql, name: string): Promise<boolean> {
  const found = planNamePattern.test(name) ? await tx`select 1 from plans where name = ${name} for key share` : [];
  return found.length > 0;
}

export async function requirePlan(tx: Sql, name: string): Promise<void> {
  if (await planExists(tx, name)) return;
  const rows = await tx<{ name: string }[]>`select name from plans order by name`;
  const expected = rows.map((row) => row.name);
  throw fault("one_of", "Unknown plan", { loc: ["body", "plan"], ctx: { expected } });
}

const planFields = (sql: Sql) => sql`
  p.name, p.requests_per_minute as "requestsPerMinute", p.parallel, p.storage_bytes as "storageBytes",
  (select count(*)::int from users u where u.plan = p.name and u.role <> 'system') as users`;

async function findPlan(sql: Sql, name: string): Promise<Plan | undefined> {
  const [plan] = await sql<Plan[]>`select ${planFields(sql)} from plans p where p.name = ${name}`;
  return plan;
}

/** An omitted storage quota stays unchanged. */
async function upsertPlan(
  sql: Sql,
  name: string,
  { requests_per_minute, parallel, storage_bytes }: PutPlanBody,
): Promise<{ plan: Plan; created: boolean }> {
  const [written] = await sql<{ created: boolean }[]>`
    insert into plans as p (name, requests_per_minute, parallel, storage_bytes)
    values (${name}, ${requests_per_minute}, ${parallel}, ${storage_bytes ?? null})
    on conflict (name) do update
      set requests_per_minute = excluded.requests_per_minute, parallel = excluded.parallel,
        storage_bytes = case when ${storage_bytes === undefined} then p.storage_bytes else excluded.storage_bytes end
    returning xmax = 0 as created`;
  const plan = await findPlan(sql, name);
  if (!written || !plan) throw new Error("plan is missing after its upsert");
  return { plan, created: written.created };
}

/** No user can get the plan until the transaction ends. */
async function lockPlan(sql: Sql, name: string): Promise<Plan | undefined> {
  await sql`select 1 from plans where name = ${name} for update`;
  // A second statement sees users who got the plan while the first waited for the lock.
  return findPlan(sql, name);
}
