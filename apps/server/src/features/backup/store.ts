import type { Sql, Transaction } from "../../engines/database/database.ts";
import type { BackupHead } from "./backup.ts";

/** Long enough for the largest table's index, and for files that are stored while a transaction is open. */
export const deadlineMs = 6 * 3_600_000;

/** The transaction sees one moment of the database, and is not ended for being quiet while files are copied. */
export async function readOneMoment(tx: Transaction): Promise<void> {
  await tx`set transaction isolation level repeatable read, read only`;
  await stayOpen(tx);
}

export async function stayOpen(tx: Transaction): Promise<void> {
  await tx`set local idle_in_transaction_session_timeout = 0`;
}

/** A table or column name in a statement. */
const named = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export async function hasSchema(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ there: boolean }[]>`select to_regclass('public.schema_migrations') is not null as there`;
  return row?.there ?? false;
}

export async function selectMigrations(sql: Sql): Promise<BackupHead["migrations"]> {
  return sql<BackupHead["migrations"]>`select name, hash from schema_migrations order by name`;
}

/** Every table of ours, partitioned ones as one; without what the schema says about itself. */
export async function selectTables(sql: Sql): Promise<BackupHead["tables"]> {
  return sql<BackupHead["tables"]>`
    select c.relname::text as name, (
        select array_agg(a.attname::text order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      ) as columns
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> 'schema_migrations'
    order by c.relname`;
}

/** Those whose values the table makes itself cannot be written. */
export async function selectWritableColumns(sql: Sql, table: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select attname::text as name from pg_attribute
    where attrelid = ${named(table)}::regclass and attnum > 0 and not attisdropped and attgenerated = ''
    order by attnum`;
  return rows.map((row) => row.name);
}

export async function selectPartitions(sql: Sql): Promise<BackupHead["partitions"]> {
  return sql<BackupHead["partitions"]>`
    select c.relname::text as name, p.relname::text as parent, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_class c join pg_inherits i on i.inhrelid = c.oid join pg_class p on p.oid = i.inhparent
    where c.relnamespace = 'public'::regnamespace and c.relispartition and c.relkind in ('r', 'p') order by c.relname`;
}

export interface SequenceState {
  name: string;
  /** As text: it may be larger than a number holds. */
  value: string;
  called: boolean;
}

export async function selectSequences(sql: Sql): Promise<SequenceState[]> {
  const names = await sql<{ name: string }[]>`
    select relname::text as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'S' order by relname`;
  const states: SequenceState[] = [];
  for (const { name } of names) {
    const [state] = await sql<{ value: string; called: boolean }[]>`
      select last_value::text as value, is_called as called from ${sql(name)}`;
    if (state) states.push({ name, ...state });
  }
  return states;
}

export async function setSequence(tx: Transaction, { name, value, called }: SequenceState): Promise<void> {
  await tx`select setval(${named(name)}::regclass, ${value}::text::bigint, ${called})`;
}

/**
 * The rows of a table as texts, in portions of about `bytesAtOnce`: rows can be long, so each portion's number of rows
 * follows from the size of the one before. By the columns that the head names: `row_of::text` would have those of the
 * table at this moment, whatever the snapshot says of it.
 */
export async function* readRows(
  tx: Transaction,
  { name, columns }: BackupHead["tables"][number],
  bytesAtOnce: number,
): AsyncGenerator<string[]> {
  const row = `row(${columns.map(named).join(", ")})`;
  await tx.unsafe(`declare backup_rows no scroll cursor for select ${row}::text as line from ${named(name)}`);
  for (let count = 50; ; ) {
    const rows = await tx.unsafe<{ line: string }[]>(`fetch forward ${count} from backup_rows`);
    if (rows.length === 0) break;
    const lines = rows.map((row) => row.line);
    yield lines;
    const average = lines.reduce((sum, line) => sum + line.length, 0) / lines.length;
    count = Math.max(1, Math.min(count * 4, 5000, Math.floor(bytesAtOnce / average)));
  }
  await tx`close backup_rows`;
}

export async function insertRows(
  tx: Transaction,
  table: string,
  columns: readonly string[],
  lines: string[],
): Promise<void> {
  const values = columns.map((column) => `(parsed).${named(column)}`).join(", ");
  await tx`
    with batch as materialized (select line::${tx(table)} as parsed from unnest(${lines}::text[]) line)
    insert into ${tx(table)} (${tx([...columns])}) overriding system value
    select ${tx.unsafe(values)} from batch`;
}

/** Part of what the transaction does, and of nothing that a backup holds: whoever reads it knows whether it took place. */
export async function markRestore(tx: Transaction, id: string): Promise<void> {
  if (!/^[\w-]+$/.test(id)) throw new Error(`${id} is no id of a restore`);
  await tx.unsafe(`comment on table schema_migrations is 'restore ${id}'`);
}

/** Of the last restore of all. Waits for nobody: hold what it held. */
export async function hasTakenPlace(sql: Sql, id: string): Promise<boolean> {
  const [row] = await sql<{ mark: string | null }[]>`
    select obj_description(to_regclass('public.schema_migrations'), 'pg_class') as mark`;
  return row?.mark === `restore ${id}`;
}

interface KeyColumn {
  table: string;
  column: string;
  where: string;
}

/** The keys of all files that the tables speak of, as there for certain; tables that are not there yet speak of none. */
const fileKeys: readonly KeyColumn[] = [
  { table: "files", column: "key", where: "state = 'stored'" },
  { table: "drive_items", column: "blob_key", where: "type = 'file'" },
];

/** And of those that may be there: on their way to us, or to be thrown away. */
const possibleKeys: readonly KeyColumn[] = [
  { table: "files", column: "key", where: "true" },
  { table: "drive_items", column: "blob_key", where: "type = 'file'" },
  { table: "drive_loose_blobs", column: "key", where: "true" },
  { table: "deleted_files", column: "key", where: "true" },
];

async function* columnsThere(sql: Sql, columns: readonly KeyColumn[]): AsyncGenerator<KeyColumn> {
  for (const one of columns) {
    const [row] = await sql<{ there: boolean }[]>`select to_regclass(${`public.${one.table}`}) is not null as there`;
    if (row?.there) yield one;
  }
}

export const selectFileKeys = (tx: Transaction): Promise<Set<string>> => selectKeys(tx, fileKeys);
export const selectPossibleKeys = (tx: Transaction): Promise<Set<string>> => selectKeys(tx, possibleKeys);

async function selectKeys(tx: Transaction, columns: readonly KeyColumn[]): Promise<Set<string>> {
  const keys = new Set<string>();
  for await (const { table, column, where } of columnsThere(tx, columns)) {
    await tx.unsafe(
      `declare file_keys no scroll cursor for select ${named(column)} as key from ${named(table)} where ${where}`,
    );
    for (;;) {
      const rows = await tx.unsafe<{ key: string }[]>("fetch forward 5000 from file_keys");
      if (rows.length === 0) break;
      for (const { key } of rows) keys.add(key);
    }
    await tx`close file_keys`;
  }
  return keys;
}

/** Those of these keys that the tables still speak of. */
export const selectKnownKeys = (sql: Sql, keys: readonly string[]): Promise<string[]> => selectOf(sql, keys, fileKeys);
export const selectPossiblyKnownKeys = (sql: Sql, keys: readonly string[]): Promise<string[]> =>
  selectOf(sql, keys, possibleKeys);

async function selectOf(sql: Sql, keys: readonly string[], columns: readonly KeyColumn[]): Promise<string[]> {
  const known: string[] = [];
  for await (const { table, column, where } of columnsThere(sql, columns)) {
    const rows = await sql<{ key: string }[]>`
      select ${sql(column)} as key from ${sql(table)} where ${sql(column)} = any(${[...keys]}::text[]) and ${sql.unsafe(where)}`;
    known.push(...rows.map(({ key }) => key));
  }
  return known;
}

export async function countRows(sql: Sql, table: string): Promise<number> {
  const [row] = await sql<{ n: number }[]>`select count(*) as n from ${sql(table)}`;
  return row?.n ?? 0;
}

export async function hasUsers(sql: Sql): Promise<boolean> {
  const rows = await sql`select 1 from users limit 1`;
  return rows.length > 0;
}

/** Servers that use this database now. */
export async function countLiveNodes(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from nodes where heartbeat_at > now() - interval '15 seconds'`;
  return row?.n ?? 0;
}

/** Those that ran when the backup was made run elsewhere, if at all: here what they held is anybody's to take over. */
export async function buryNodes(tx: Transaction): Promise<void> {
  await tx`update nodes set heartbeat_at = least(heartbeat_at, now() - interval '1 hour')`;
}

/**
 * Takes off, and gives back a function that puts on again, what would stand in the way of rows that are already right:
 * triggers (a ledger row would move its wallet a second time) and foreign keys (rows come table by table). Needs no
 * more than owning the tables; should the transaction fail, nothing of it has happened.
 */
export async function suspendRules(tx: Transaction): Promise<() => Promise<void>> {
  const triggers = await tx<{ off: string; on: string }[]>`
    select format('alter table %s disable trigger %I', tgrelid::regclass, tgname) as off,
      format('alter table %s enable trigger %I', tgrelid::regclass, tgname) as on
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = 'public'::regnamespace and not tgisinternal and tgparentid = 0 and tgenabled = 'O'`;
  const keys = await tx<{ off: string; on: string }[]>`
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) as off,
      format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(k.oid)) as on
    from pg_constraint k where connamespace = 'public'::regnamespace and contype = 'f' and conparentid = 0
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
  // The bound comes from a file and becomes part of a statement.
  if (!/^(DEFAULT|FOR VALUES FROM \('[0-9:+ -]+'\) TO \('[0-9:+ -]+'\))$/.test(bound)) {
    throw new Error(`The partition ${name} has a bound that is not understood: ${bound}`);
  }
  await tx.unsafe(`create table if not exists ${named(name)} partition of ${named(parent)} ${bound}`);
}

/** The planner knows nothing about tables that were just filled. */
export async function analyze(sql: Sql): Promise<void> {
  await sql`analyze`;
}
