import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Database, Sql, Transaction } from "./database.ts";

export interface Migration {
  name: string;
  sql: string;
  hash: string;
}

/** Any number; all nodes must use the same. */
const lockKey = 7_242_001;
/** Building an index on a large table takes its time. */
const migrationDeadlineMs = 15 * 60_000;

/**
 * Brings the database up to the files `NNNN-name.sql` in `dir`, in order, each in a transaction of its own. Forward only.
 * Nodes that start at once wait for each other at a lock, and the later ones find nothing to do. A database that knows
 * more migrations than the code is accepted: migrations only add, so older code still runs during a rolling update.
 * With `only`, those of these names and no others: a backup is restored into the schema of its time. Returns the names of
 * those applied.
 */
export async function migrate(database: Database, dir: string, only?: ReadonlySet<string>): Promise<string[]> {
  const migrations = (await readMigrations(dir)).filter(({ name }) => only?.has(name) ?? true);
  if ((await pending(database.sql, migrations).catch(() => migrations)).length === 0) return [];
  await lockedTransaction(
    database,
    (tx) => tx`
      create table if not exists schema_migrations (
        name text primary key,
        hash text not null,
        applied_at timestamptz not null default now()
      )`,
  );
  const applied: string[] = [];
  for (const migration of migrations) {
    await lockedTransaction(database, async (tx) => {
      if ((await pending(tx, [migration])).length === 0) return;
      await tx.unsafe(migration.sql);
      await tx`insert into schema_migrations (name, hash) values (${migration.name}, ${migration.hash})`;
      applied.push(migration.name);
    });
  }
  return applied;
}

/** Those that this database does not have yet. */
async function pending(sql: Sql, migrations: readonly Migration[]): Promise<Migration[]> {
  const names = migrations.map(({ name }) => name);
  const rows = await sql<{ name: string; hash: string }[]>`
    select name, hash from schema_migrations where name = any(${names}::text[])`;
  const applied = new Map(rows.map(({ name, hash }) => [name, hash]));
  for (const { name, hash } of migrations) {
    if (applied.has(name) && applied.get(name) !== hash)
      throw new Error(
        `The migration ${name} was changed after it had been applied to this database. ` +
          "Restore the file and put the change into a new migration.",
      );
  }
  return migrations.filter(({ name }) => !applied.has(name));
}

function lockedTransaction(database: Database, work: (tx: Transaction) => Promise<unknown>): Promise<unknown> {
  return database.transaction(
    async (tx) => {
      await tx`select pg_advisory_xact_lock(${lockKey})`;
      await work(tx);
    },
    { deadlineMs: migrationDeadlineMs },
  );
}

export async function readMigrations(dir: string): Promise<Migration[]> {
  const names = (await readdir(dir)).filter((name) => name.endsWith(".sql")).sort();
  const numbers = new Set<string>();
  const migrations: Migration[] = [];
  for (const name of names) {
    const number = /^(\d{4})-[a-z0-9-]+\.sql$/.exec(name)?.[1];
    if (!number) throw new Error(`The migration ${name} is not named NNNN-name.sql`);
    if (numbers.has(number)) throw new Error(`Two migrations have the number ${number}`);
    numbers.add(number);
    const sql = await readFile(join(dir, name), "utf8");
    migrations.push({ name, sql, hash: createHash("sha256").update(sql).digest("hex") });
  }
  return migrations;
}
