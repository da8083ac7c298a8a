import type { Sql } from "../../engines/database/database.ts";

/** Held to the end of the transaction, by one node at a time. */
export async function lockBootstrap(sql: Sql): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('gantry.accounts.bootstrap'))`;
}

export async function readSetting<T>(sql: Sql, name: string): Promise<T | undefined> {
  const [row] = await sql<{ value: T }[]>`select value from settings where name = ${name}`;
  return row?.value;
}

export async function writeSetting(sql: Sql, name: string, value: Record<string, string | null>): Promise<void> {
  await sql`
    insert into settings (name, value) values (${name}, ${sql.json(value)})
    on conflict (name) do update set value = excluded.value`;
}
