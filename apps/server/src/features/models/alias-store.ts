import type { Sql, Transaction } from "../../engines/database/database.ts";

/** Payload: the cache key of the alias that changed, without a user if the alias is for all users. */
export const aliasesChannel = "model_aliases_changed";

export interface Alias {
  name: string;
  /** An endpoint id, or `agents/creator/slug`. */
  model: string;
  createdAt: Date;
  updatedAt: Date;
}

/** A user, or null for all users. */
export type AliasOwner = string | null;

const columns = (sql: Sql) => sql`name, model, created_at as "createdAt", updated_at as "updatedAt"`;
const ofOwner = (sql: Sql, owner: AliasOwner) => (owner === null ? sql`owner_id is null` : sql`owner_id = ${owner}`);

/** The user's own alias wins. */
export async function findTarget(sql: Sql, userId: string, name: string): Promise<string | undefined> {
  const [row] = await sql<{ model: string }[]>`
    select model from model_aliases where name = ${name} and (owner_id = ${userId} or owner_id is null)
    order by owner_id nulls last limit 1`;
  return row?.model;
}

/** What the names mean for a user. */
export async function selectVisible(sql: Sql, userId: string): Promise<Pick<Alias, "name" | "model">[]> {
  return sql<Pick<Alias, "name" | "model">[]>`
    select distinct on (name) name, model from model_aliases where owner_id = ${userId} or owner_id is null
    order by name, owner_id nulls last`;
}

export async function selectAliases(
  sql: Sql,
  owner: AliasOwner,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ entries: Alias[]; total: number }> {
  const [entries, [count]] = await Promise.all([
    sql<Alias[]>`
      select ${columns(sql)} from model_aliases where ${ofOwner(sql, owner)}
      order by name limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total from model_aliases where ${ofOwner(sql, owner)}`,
  ]);
  return { entries: [...entries], total: count?.total ?? 0 };
}

/** Until the transaction ends, no other alias of the owner is created, so the count holds. */
export async function countLocked(tx: Transaction, owner: AliasOwner): Promise<number> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`gantry.aliases.${owner ?? ""}`}, 0))`;
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from model_aliases where ${ofOwner(tx, owner)}`;
  return row?.count ?? 0;
}

export async function upsertAlias(
  tx: Transaction,
  owner: AliasOwner,
  { name, model }: Pick<Alias, "name" | "model">,
): Promise<{ alias: Alias; created: boolean }> {
  const [row] = await tx<(Alias & { created: boolean })[]>`
    insert into model_aliases (owner_id, name, model) values (${owner}, ${name}, ${model})
    on conflict on constraint model_aliases_key do update set model = excluded.model, updated_at = now()
    returning ${columns(tx)}, xmax = 0 as created`;
  if (!row) throw new Error("an upsert answered nothing");
  await announce(tx, owner, name);
  const { created, ...alias } = row;
  return { alias, created };
}

/** Of this owner only. */
export async function findOwnAlias(tx: Transaction, owner: AliasOwner, name: string): Promise<Alias | undefined> {
  const [row] = await tx<Alias[]>`
    select ${columns(tx)} from model_aliases where ${ofOwner(tx, owner)} and name = ${name}`;
  return row;
}

/** Undefined if the alias did not exist. */
export async function deleteRow(tx: Transaction, owner: AliasOwner, name: string): Promise<Alias | undefined> {
  const [row] = await tx<Alias[]>`
    delete from model_aliases where ${ofOwner(tx, owner)} and name = ${name} returning ${columns(tx)}`;
  if (row) await announce(tx, owner, name);
  return row;
}

/** A user's name for something. User ids and names contain no space. */
export function aliasKey(owner: AliasOwner, name: string): string {
  return `${owner ?? ""} ${name}`;
}

async function announce(tx: Transaction, owner: AliasOwner, name: string): Promise<void> {
  await tx`select pg_notify(${aliasesChannel}, ${aliasKey(owner, name)})`;
}
