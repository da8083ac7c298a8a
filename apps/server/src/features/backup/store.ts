import type { Sql, Transaction } from "../../engines/database/database.ts";
import type { BackupHead } from "./backup.ts";
import { named } from "./schema-store.ts";

/** Long enough for the largest index, and for storing files in an open transaction. */
export const deadlineMs = 6 * 3_600_000;

/** One snapshot, without an idle timeout while files are copied. */
export async function readOneMoment(tx: Transaction): Promise<void> {
  await tx`set transaction isolation level repeatable read, read only`;
  await stayOpen(tx);
}

export async function stayOpen(tx: Transaction): Promise<void> {
  await tx`set local idle_in_transaction_session_timeout = 0`;
}

const rowsAtOnce = 5000;

/**
 * Rows as text, in portions of at most `bytesAtOnce`, or of one row. The size of the last fetch decides the number of
 * rows in the next. Lists the columns, because `row_of::text` uses the current ones, not those of the snapshot.
 */
export async function* readRows(
  tx: Transaction,
  { name, columns }: BackupHead["tables"][number],
  bytesAtOnce: number,
): AsyncGenerator<string[]> {
  const row = `row(${columns.map(named).join(", ")})::text`;
  // The next rows may be much larger than the last ones. The cursor gives only the place of those, to read one by one.
  const longestOf = (count: number) => Math.floor((4 * bytesAtOnce) / count);
  await tx.unsafe(`
    declare backup_rows no scroll cursor for
    select line, case when line is null then format('tableoid = %s and ctid = %L', part, place) end as place
    from (
      select part, place, case
        when octet_length(line) <= ${longestOf(rowsAtOnce)} then line
        when octet_length(line) <= current_setting('gantry.longest_row')::int then line end as line
      from (select ${row} as line, tableoid as part, ctid as place from ${named(name)} offset 0) rows
      offset 0) fetched`);
  let portion: string[] = [];
  let size = 0;
  for (let count = 50; ; ) {
    await tx`select set_config('gantry.longest_row', ${String(longestOf(count))}, true)`;
    const rows = await tx.unsafe<FetchedRow[]>(`fetch forward ${count} from backup_rows`);
    if (rows.length === 0) break;
    let fetched = 0;
    for (const { line: short, place } of rows) {
      const line = short ?? (await readLine(tx, `select ${row} as line from ${named(name)} where ${place}`));
      if (portion.length === rowsAtOnce || (portion.length > 0 && size + line.length > bytesAtOnce)) {
        yield portion;
        portion = [];
        size = 0;
      }
      portion.push(line);
      size += line.length;
      fetched += line.length;
    }
    count = Math.max(1, Math.min(count * 4, rowsAtOnce, Math.floor((bytesAtOnce * rows.length) / fetched)));
  }
  if (portion.length > 0) yield portion;
  await tx`close backup_rows`;
}

/** `place`: condition that finds a long row, which has no line. */
interface FetchedRow {
  line: string | null;
  place: string | null;
}

async function readLine(tx: Transaction, query: string): Promise<string> {
  const [row] = await tx.unsafe<{ line: string }[]>(query);
  if (!row) throw new Error("A row disappeared from the snapshot of the backup");
  return row.line;
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
    insert into ${tx(table)} (${tx(...columns)}) overriding system value
    select ${tx.unsafe(values)} from batch`;
}

/** Committed with the restore but not part of a backup, so it proves that the restore took place. */
export async function markRestore(tx: Transaction, id: string): Promise<void> {
  if (!/^[\w-]+$/.test(id)) throw new Error(`${id} is not a valid restore id`);
  await tx.unsafe(`comment on table schema_migrations is 'restore ${id}'`);
}

/** Only for the last restore. Needs the restore's lock. */
export async function hasTakenPlace(sql: Sql, id: string): Promise<boolean> {
  const [row] = await sql<{ mark: string | null }[]>`
    select obj_description(to_regclass('schema_migrations'), 'pg_class') as mark`;
  return row?.mark === `restore ${id}`;
}

interface KeyColumn {
  table: string;
  column: string;
  where: string;
}

/** Files that must exist. Tables may be missing in older schemas. */
const fileKeys: readonly KeyColumn[] = [
  { table: "files", column: "key", where: "state = 'stored'" },
  { table: "drive_items", column: "blob_key", where: "type = 'file'" },
];

/** Also files that may exist: on upload or to be deleted. */
const possibleKeys: readonly KeyColumn[] = [
  { table: "files", column: "key", where: "true" },
  { table: "drive_items", column: "blob_key", where: "type = 'file'" },
  { table: "drive_loose_blobs", column: "key", where: "true" },
  { table: "deleted_files", column: "key", where: "true" },
];

async function* columnsThere(sql: Sql, columns: readonly KeyColumn[]): AsyncGenerator<KeyColumn> {
  for (const one of columns) {
    const [row] = await sql<{ there: boolean }[]>`select to_regclass(${one.table}) is not null as there`;
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

/** Which of the keys have a row. */
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

/** The planner has no statistics for tables that were just filled. */
export async function analyze(sql: Sql): Promise<void> {
  await sql`analyze`;
}
