import type { Sql } from "../../engines/database/database.ts";

export interface SecretRow {
  name: string;
  createdAt: Date;
  updatedAt: Date;
}

export async function upsertSecret(
  sql: Sql,
  { ownerId, name, sealed }: { ownerId: string; name: string; sealed: Uint8Array },
): Promise<{ created: boolean; row: SecretRow }> {
  const [row] = await sql<(SecretRow & { created: boolean })[]>`
    insert into secrets (owner_id, name, sealed) values (${ownerId}, ${name}, ${sealed as Buffer})
    on conflict (owner_id, name) do update set sealed = excluded.sealed, updated_at = now()
    returning name, created_at as "createdAt", updated_at as "updatedAt", xmax = 0 as created`;
  if (!row) throw new Error("an upsert answered nothing");
  const { created, ...rest } = row;
  return { created, row: rest };
}

export async function selectSecrets(
  sql: Sql,
  { ownerId, limit, offset }: { ownerId: string; limit: number; offset: number },
): Promise<{ rows: SecretRow[]; total: number }> {
  const [rows, [count]] = await Promise.all([
    sql<SecretRow[]>`
      select name, created_at as "createdAt", updated_at as "updatedAt" from secrets
      where owner_id = ${ownerId} order by name limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total from secrets where owner_id = ${ownerId}`,
  ]);
  return { rows, total: count?.total ?? 0 };
}

export async function selectNames(sql: Sql, ownerId: string, names: readonly string[]): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from secrets where owner_id = ${ownerId} and name = any (${names as string[]}::text[])`;
  return rows.map(({ name }) => name);
}

export async function selectSealed(sql: Sql, ownerId: string, name: string): Promise<Uint8Array | undefined> {
  const [row] = await sql<{ sealed: Uint8Array }[]>`
    select sealed from secrets where owner_id = ${ownerId} and name = ${name}`;
  return row?.sealed;
}

export async function deleteSecret(sql: Sql, ownerId: string, name: string): Promise<boolean> {
  const rows = await sql`delete from secrets where owner_id = ${ownerId} and name = ${name} returning 1`;
  return rows.length > 0;
}
