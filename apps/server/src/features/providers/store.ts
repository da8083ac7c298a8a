import type { Sql, Transaction } from "../../engines/database/database.ts";
import type { Provider, ProviderOwner } from "./provider.ts";

const columns = (sql: Sql) => sql`
  name, type, source, url, secret, headers, query, created_at as "createdAt", updated_at as "updatedAt"`;

const operatorName = "gantry";

/** The system user that owns what the operator offers to all. */
export async function operatorOf(sql: Sql): Promise<ProviderOwner> {
  const [row] = await sql<{ id: string }[]>`select id from users where username = ${operatorName}`;
  if (!row) throw new Error(`the system user ${operatorName} is missing`);
  return { id: row.id, username: operatorName, isOperator: true };
}

/** Addresses on the server's machine. Also asked before the first user exists. */
export async function selectFound(sql: Sql): Promise<Pick<Provider, "type" | "url">[]> {
  return sql<Pick<Provider, "type" | "url">[]>`
    select p.type, p.url from providers p join users u on u.id = p.owner_id
    where u.username = ${operatorName} and p.source = 'found'`;
}

/** Sorted by name. An owner has at most a few hundred. */
export async function selectProviders(sql: Sql, ownerId: string): Promise<Provider[]> {
  return sql<Provider[]>`select ${columns(sql)} from providers where owner_id = ${ownerId} order by name`;
}

export async function selectProvider(sql: Sql, ownerId: string, name: string): Promise<Provider | undefined> {
  const [row] = await sql<Provider[]>`
    select ${columns(sql)} from providers where owner_id = ${ownerId} and name = ${name}`;
  return row;
}

/** Until the transaction ends, no other provider of the owner is created, so the count holds. */
export async function countLocked(tx: Transaction, ownerId: string): Promise<number> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`gantry.providers.${ownerId}`}, 0))`;
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from providers where owner_id = ${ownerId}`;
  return row?.count ?? 0;
}

export type ProviderValues = Pick<Provider, "name" | "type" | "source" | "url" | "secret" | "headers" | "query">;

export async function upsertProvider(
  tx: Transaction,
  ownerId: string,
  { name, type, source, url, secret, headers, query }: ProviderValues,
): Promise<{ provider: Provider; created: boolean }> {
  const [row] = await tx<(Provider & { created: boolean })[]>`
    insert into providers (owner_id, name, type, source, url, secret, headers, query)
    values (${ownerId}, ${name}, ${type}, ${source}, ${url}, ${secret}, ${tx.json(headers)}, ${tx.json(query)})
    on conflict (owner_id, name) do update set type = excluded.type, source = excluded.source, url = excluded.url,
      secret = excluded.secret, headers = excluded.headers, query = excluded.query, updated_at = now()
    returning ${columns(tx)}, xmax = 0 as created`;
  if (!row) throw new Error("an upsert answered nothing");
  const { created, ...provider } = row;
  return { provider, created };
}

/** A provider that its owner has saved under that name stays. */
export async function upsertFound(
  tx: Transaction,
  ownerId: string,
  { name, type, url }: ProviderValues,
): Promise<void> {
  await tx`
    insert into providers (owner_id, name, type, source, url) values (${ownerId}, ${name}, ${type}, 'found', ${url})
    on conflict (owner_id, name) do update set type = excluded.type, url = excluded.url, updated_at = now()
    where providers.source = 'found' and (providers.type, providers.url) is distinct from (excluded.type, excluded.url)`;
}

/** Deletes what was found at an earlier start and not at this one, unless models were imported from it. */
export async function deleteUnused(tx: Transaction, ownerId: string, found: readonly string[]): Promise<void> {
  await tx`
    delete from providers p where owner_id = ${ownerId} and source = 'found' and name <> all (${[...found]}::text[])
      and not exists (
        select from models m where m.owner_id = p.owner_id and m.provider = p.name and m.retired_at is null)`;
}

/** Whether the provider existed. */
export async function deleteProviderRow(sql: Sql, ownerId: string, name: string): Promise<boolean> {
  const rows = await sql`delete from providers where owner_id = ${ownerId} and name = ${name} returning 1`;
  return rows.length > 0;
}
