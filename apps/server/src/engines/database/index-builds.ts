import type { Sql } from "./database.ts";
import type { IndexBuild, IndexStatement } from "./migration.rules.ts";
import { lockTimeoutMs, untilLocked, type WaitOptions } from "./schema-lock.ts";

/** Creates or drops an index beside traffic. Can be repeated after an interruption. */
export async function changeIndex(sql: Sql, { text, index, build }: IndexStatement, wait: WaitOptions): Promise<void> {
  if (build && (await isPartitioned(sql, build.table))) return buildOnPartitions(sql, index, build, wait);
  if (build) await dropUnfinished(sql, index);
  await sql.unsafe(text);
}

async function isPartitioned(sql: Sql, table: string): Promise<boolean> {
  const found = await sql`select 1 from pg_class where oid = to_regclass(${table}) and relkind = 'p'`;
  return found.length > 0;
}

/**
 * PostgreSQL does not build the index of a partitioned table concurrently. So the table gets it without its partitions,
 * then each partition gets its part. Partitions that are created meanwhile have theirs from the beginning. The index is
 * valid with the last part.
 */
async function buildOnPartitions(sql: Sql, index: string, build: IndexBuild, wait: WaitOptions): Promise<void> {
  const { kind, table, definition } = build;
  await withLock(sql, `create ${kind} if not exists ${index} on only ${table} ${definition}`, wait);
  for (const partition of await partitionsWithout(sql, index, table)) {
    const part = `${partition}_${index}`;
    await dropUnfinished(sql, part);
    await sql.unsafe(`create ${kind} concurrently if not exists ${part} on ${partition} ${definition}`);
    await withLock(sql, `alter index ${index} attach partition ${part}`, wait);
  }
}

async function partitionsWithout(sql: Sql, index: string, table: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname as name from pg_inherits p join pg_class c on c.oid = p.inhrelid
    where p.inhparent = to_regclass(${table}) and not exists (
      select from pg_index x join pg_inherits i on i.inhrelid = x.indexrelid
      where x.indrelid = c.oid and i.inhparent = to_regclass(${index}))
    order by c.relname`;
  return rows.map(({ name }) => name);
}

/** Such a statement is quick, but while it waits for its lock, other queries wait behind it. */
async function withLock(sql: Sql, text: string, wait: WaitOptions): Promise<void> {
  await sql.unsafe(`set lock_timeout = ${lockTimeoutMs}`);
  await untilLocked("The index", wait, () => sql.unsafe(text));
  await sql`set lock_timeout = 0`;
}

/** PostgreSQL never uses or finishes the invalid index that an interrupted build leaves. */
async function dropUnfinished(sql: Sql, index: string): Promise<void> {
  const found = await sql`
    select 1 from pg_index where indexrelid = to_regclass(${index}) and not indisvalid`;
  if (found.length > 0) await sql.unsafe(`drop index concurrently ${index}`);
}
