import type { Manifest } from "@gantry/wire";
import type { Sql, Transaction } from "../../engines/database/database.ts";
import { asJson } from "./store.ts";

/** Where a model comes from: a provider of its owner, and the name there. */
export interface Origin {
  ownerId: string;
  provider: string;
  upstreamId: string;
}

export interface ImportedName {
  name: string;
  upstreamId: string;
}

/** Live models of a provider, sorted by name. */
export async function selectImportedNames(sql: Sql, ownerId: string, provider: string): Promise<ImportedName[]> {
  return sql<ImportedName[]>`
    select name, upstream_id as "upstreamId" from models
    where owner_id = ${ownerId} and provider = ${provider} and retired_at is null order by name`;
}

/** Live imported models by provider. */
export async function countImported(sql: Sql, ownerId: string): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ provider: string; count: number }[]>`
    select provider, count(*)::int as count from models
    where owner_id = ${ownerId} and provider is not null and retired_at is null group by provider`;
  return new Map(rows.map(({ provider, count }) => [provider, count]));
}

/** Until the transaction ends, no other import changes the owner's models. */
export async function lockImports(tx: Transaction, ownerId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`gantry.imports.${ownerId}`}, 0))`;
}

export interface NamedModel {
  provider: string | null;
  upstreamId: string | null;
  imported: Manifest | null;
}

/** The live model of that name. */
export async function selectNamed(tx: Transaction, ownerId: string, name: string): Promise<NamedModel | undefined> {
  const [row] = await tx<NamedModel[]>`
    select provider, upstream_id as "upstreamId", imported from models
    where owner_id = ${ownerId} and name = ${name} and retired_at is null`;
  return row;
}

/** Needs the lock of the model, or a model that this transaction has created. */
export async function rememberImport(
  tx: Transaction,
  id: string,
  { provider, upstreamId }: Origin,
  imported: Manifest,
): Promise<void> {
  await tx`
    update models set provider = ${provider}, upstream_id = ${upstreamId}, imported = ${asJson(tx, imported)}
    where id = ${id}`;
}
