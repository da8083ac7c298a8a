import type { Sql, Transaction } from "../../engines/database/database.ts";
import type { BackupHead } from "./backup.ts";
import type { Names } from "./own-names.rules.ts";

/** Quoted identifier. */
export const named = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Along the search path: the schema may differ from public. */
const oidsOf = (sql: Sql, names: readonly string[]) =>
  sql`select to_regclass(quote_ident(name))::oid from unnest(${[...names]}::text[]) name`;

export async function hasSchema(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ there: boolean }[]>`select to_regclass('schema_migrations') is not null as there`;
  return row?.there ?? false;
}

export async function selectMigrations(sql: Sql): Promise<BackupHead["migrations"]> {
  return sql<BackupHead["migrations"]>`select name, hash from schema_migrations order by name`;
}

/** All tables and sequences of the schema, without its own bookkeeping. */
export async function selectNamesBeside(sql: Sql): Promise<Names> {
  const rows = await sql<{ name: string; kind: string }[]>`
    select relname::text as name, relkind::text as kind from pg_class
    where relnamespace = (select relnamespace from pg_class where oid = to_regclass('schema_migrations'))
      and relkind in ('r', 'p', 'S') and not relispartition and relname not in ('schema_migrations', 'schema_functions')
    order by relname`;
  const namesOf = (isWanted: (kind: string) => boolean) =>
    rows.filter(({ kind }) => isWanted(kind)).map(({ name }) => name);
  return { tables: namesOf((kind) => kind !== "S"), sequences: namesOf((kind) => kind === "S") };
}

export async function selectTables(sql: Sql, { tables }: Names): Promise<BackupHead["tables"]> {
  return sql<BackupHead["tables"]>`
    select c.relname::text as name, (
        select array_agg(a.attname::text order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      ) as columns
    from pg_class c
    where c.oid in (${oidsOf(sql, tables)}) and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`;
}

/** Without generated columns. */
export async function selectWritableColumns(sql: Sql, table: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select attname::text as name from pg_attribute
    where attrelid = ${named(table)}::regclass and attnum > 0 and not attisdropped and attgenerated = ''
    order by attnum`;
  return rows.map((row) => row.name);
}

export async function selectPartitions(sql: Sql, { tables }: Names): Promise<BackupHead["partitions"]> {
  return sql<BackupHead["partitions"]>`
    select c.relname::text as name, p.relname::text as parent, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_class c join pg_inherits i on i.inhrelid = c.oid join pg_class p on p.oid = i.inhparent
    where p.oid in (${oidsOf(sql, tables)}) and c.relispartition and c.relkind in ('r', 'p') order by c.relname`;
}

export interface SequenceState {
  name: string;
  /** As text: it may exceed a number's range. */
  value: string;
  called: boolean;
}

/** With the sequences of identity columns. */
export async function selectSequences(sql: Sql, { tables, sequences }: Names): Promise<SequenceState[]> {
  const names = await sql<{ name: string }[]>`
    select relname::text as name from pg_class
    where relkind = 'S' and (oid in (${oidsOf(sql, sequences)}) or oid in (
      select objid from pg_depend where classid = 'pg_class'::regclass and refclassid = 'pg_class'::regclass
        and deptype in ('a', 'i') and refobjid in (${oidsOf(sql, tables)})))
    order by relname`;
  const states: SequenceState[] = [];
  for (const { name } of names) {
    const [state] = await sql<{ value: string; called: boolean }[]>`
      select last_value::text as value, is_called as called from ${sql(name)}`;
    if (state) states.push({ name, ...state });
  }
  return states;
}

/** A rollback undoes it, unlike `setval`. */
export async function setSequence(tx: Transaction, { name, value, called }: SequenceState): Promise<void> {
  // The value comes from a file and becomes part of SQL, so it must be an integer.
  const next = BigInt(value) + (called ? 1n : 0n);
  await tx.unsafe(`alter sequence ${named(name)} restart with ${next}`);
}

/**
 * Disables triggers and foreign keys, also those of other programs' tables that refer to ours, and returns a function that
 * enables them. Needs only ownership of the tables. A rollback undoes it.
 */
export async function suspendRules(tx: Transaction, { tables }: Names): Promise<() => Promise<void>> {
  const ours = tx`
    select oid from (${oidsOf(tx, tables)}) whole (oid) union
    select inhrelid from pg_inherits where inhparent in (${oidsOf(tx, tables)})`;
  const triggers = await tx<{ off: string; on: string }[]>`
    select format('alter table %s disable trigger %I', tgrelid::regclass, tgname) as off,
      format('alter table %s enable trigger %I', tgrelid::regclass, tgname) as on
    from pg_trigger where tgrelid in (${ours}) and not tgisinternal and tgparentid = 0 and tgenabled = 'O'`;
  const keys = await tx<{ off: string; on: string }[]>`
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) as off,
      format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(k.oid)) as on
    from pg_constraint k
    where (conrelid in (${ours}) or confrelid in (${ours})) and contype = 'f' and conparentid = 0
    order by conrelid, conname`;
  for (const { off } of [...triggers, ...keys]) await tx.unsafe(off);
  return async () => {
    for (const { on } of [...keys, ...triggers]) await tx.unsafe(on);
  };
}

export async function emptyTables(tx: Transaction, tables: readonly string[]): Promise<void> {
  await tx.unsafe(`truncate ${tables.map(named).join(", ")}`);
}

export async function createPartition(
  tx: Transaction,
  { name, parent, bound }: BackupHead["partitions"][number],
): Promise<void> {
  // The bound comes from a file and becomes part of SQL.
  if (!/^(DEFAULT|FOR VALUES FROM \('[0-9:+ -]+'\) TO \('[0-9:+ -]+'\))$/.test(bound)) {
    throw new Error(`Partition ${name} has an unknown bound: ${bound}`);
  }
  await tx.unsafe(`create table if not exists ${named(name)} partition of ${named(parent)} ${bound}`);
}
