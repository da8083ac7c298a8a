import type { Sql } from "../../engines/database/database.ts";
import type { Range } from "./store.ts";

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

export async function selectPlans(sql: Sql, { limit, offset }: Range): Promise<Plan[]> {
  return sql<Plan[]>`select ${planFields(sql)} from plans p order by p.name limit ${limit} offset ${offset}`;
}

export async function countPlans(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from plans`;
  return row?.count ?? 0;
}

export async function selectPlanNames(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`select name from plans order by name`;
  return rows.map((row) => row.name);
}

/** A quota that is left out stays as it is. Every admission reads the limits in the database, so the next one on any node goes by these. */
export async function upsertPlan(
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
export async function keepPlan(sql: Sql, name: string): Promise<boolean> {
  const rows = await sql`select 1 from plans where name = ${name} for key share`;
  return rows.length > 0;
}

/** Nobody gets it until the end of the transaction. */
export async function lockPlan(sql: Sql, name: string): Promise<Plan | undefined> {
  await sql`select 1 from plans where name = ${name} for update`;
  // Counted by a second statement: who got it while this one waited for the lock is seen now.
  const [plan] = await sql<Plan[]>`select ${planFields(sql)} from plans p where p.name = ${name}`;
  return plan;
}

export async function deletePlan(sql: Sql, name: string): Promise<void> {
  await sql`delete from plans where name = ${name}`;
}
