import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Database, Sql } from "./database.ts";
import { areApplied, readFunctions, replaceFunctions } from "./functions.ts";
import { changeIndex } from "./index-builds.ts";
import {
  type AppliedMigration,
  type IndexStatement,
  type Migration,
  newerOf,
  pendingOf,
  statementsOutside,
} from "./migration.rules.ts";
import { changeSchema, lockSchema, throttled, untilLocked, type WaitOptions, watched } from "./schema-lock.ts";
import { codeOf, isDenied } from "./unavailable.ts";

/** For building an index on a large table, and for adopting a large database. */
const longWorkMs = 6 * 3_600_000;

export interface SchemaFiles {
  /** Tables, types and indexes: `NNNN-name.sql`, each applied once. */
  migrations: string;
  /** SQL functions: the folder of the features with their `sql/*.sql`. */
  functions: string;
}

export interface MigrateOptions extends WaitOptions {
  /** Applies only these migrations, to restore a backup into the schema of its time. */
  only?: ReadonlySet<string> | undefined;
  /** From now on, programs without this migration must not use the database. */
  mustKnow?: string | undefined;
}

/**
 * Applies missing migrations in order, each in its own transaction unless its first line is `-- no transaction`. Then
 * replaces the SQL functions if their text has changed. Forward only. A lock makes nodes that start together migrate once.
 * A database from before the first migration is adopted.
 *
 * Unknown migrations of a newer program are accepted and reported: migrations only add, so the previous version still runs
 * during a rolling upgrade, with the functions of the newer one. The database records which migration a program must know,
 * and refuses older programs. Returns the names of the applied migrations.
 */
export async function migrate(database: Database, files: SchemaFiles, options: MigrateOptions = {}): Promise<string[]> {
  try {
    return await migrateAll(database, files, options);
  } catch (error) {
    throw isDenied(error) ? await missingPrivileges(database, error as Error) : error;
  }
}

async function missingPrivileges({ sql }: Database, error: Error): Promise<Error> {
  const [at] = await sql<{ role: string; name: string; schema: string }[]>`
    select current_user as role, current_database() as name, current_schema() as schema`;
  const reason = error.cause instanceof Error ? error.cause.message : error.message;
  return new Error(
    `The role "${at?.role}" lacks privileges in the database "${at?.name}" (${reason}). The role must own Gantry's ` +
      `tables. Then run: grant usage, create on schema "${at?.schema}" to "${at?.role}"`,
    { cause: error },
  );
}

async function migrateAll(database: Database, files: SchemaFiles, options: MigrateOptions): Promise<string[]> {
  const known = await readMigrations(files.migrations);
  const wanted = known.filter(({ name }) => options.only?.has(name) ?? true);
  const adopted = await adopt(database, files.migrations, known, options);
  if (!(await hasTables(database.sql))) await changeSchema(database, "The table of migrations", options, createTables);
  const before = await selectApplied(database.sql);
  const newer = newerOf(before, known);
  if (newer.length > 0)
    options.report?.(`A newer Gantry has upgraded this database. Unknown migrations: ${newer.join(", ")}`);
  const applied = adopted ? [adopted] : [];
  for (const migration of pendingOf(before, wanted)) {
    const statements = statementsOutside(migration);
    const isDone = statements
      ? await buildIndexes(database, migration, statements, options)
      : await applyWhole(database, migration, options);
    if (isDone) applied.push(migration.name);
  }
  await markNeeded(database, before, applied, options.mustKnow);
  await applyFunctions(database, files.functions, known, options);
  return applied;
}

/**
 * `adopt/NNNN-name.sql` upgrades a database whose last migration has that name to the first migration of `known`, which
 * replaces all earlier ones. Returns the name of that first migration if the database was adopted.
 */
async function adopt(
  database: Database,
  dir: string,
  known: readonly Migration[],
  wait: WaitOptions,
): Promise<string | undefined> {
  const folder = join(dir, "adopt");
  const [script] = existsSync(folder) ? await readMigrations(folder) : [];
  const [baseline] = known;
  if (!script || !baseline) return undefined;
  const isDue = async (sql: Sql): Promise<boolean> => {
    const names = await selectNames(sql);
    const last = names.at(-1);
    if (last === undefined || names.includes(baseline.name)) return false;
    if (last === script.name) return true;
    throw new Error(
      `This database is too old for this Gantry. Its last migration is ${last}, and this version upgrades from ` +
        `${script.name}. Start the previous version once, then this one again.`,
    );
  };
  if (!(await isDue(database.sql))) return undefined;
  const upgrade = async (tx: Sql): Promise<string | undefined> => {
    if (!(await isDue(tx))) return undefined;
    await createTables(tx);
    await tx.unsafe(script.sql);
    await tx`delete from schema_migrations`;
    await record(tx, baseline);
    // Older programs do not know the baseline and refuse to start.
    await tx`update schema_migrations set must_know = true`;
    return baseline.name;
  };
  return changeSchema(database, "The upgrade of this database", wait, upgrade, longWorkMs);
}

/** Sorted. Empty if the table does not exist. */
async function selectNames(sql: Sql): Promise<string[]> {
  const [table] = await sql`select to_regclass('schema_migrations') as found`;
  if (!table?.found) return [];
  const rows = await sql<{ name: string }[]>`select name from schema_migrations order by name collate "C"`;
  return rows.map(({ name }) => name);
}

/**
 * Only if the migrations of the program and the database are the same. An older node that restarts during an upgrade must
 * not restore its functions, and current functions do not match the schema of an older backup.
 */
async function applyFunctions(
  database: Database,
  dir: string,
  known: readonly Migration[],
  wait: WaitOptions,
): Promise<void> {
  const functions = await readFunctions(dir);
  const areDue = async (sql: Sql): Promise<boolean> => {
    if (await areApplied(sql, functions)) return false;
    const applied = await selectApplied(sql);
    return pendingOf(applied, known).length === 0 && newerOf(applied, known).length === 0;
  };
  if (!(await areDue(database.sql))) return;
  await changeSchema(database, "The change of the SQL functions", wait, async (tx) => {
    if (await areDue(tx)) await replaceFunctions(tx, functions);
  });
}

async function createTables(tx: Sql): Promise<void> {
  await tx`
    create table if not exists schema_migrations (
      name text primary key,
      hash text not null,
      applied_at timestamptz not null default now()
    )`;
  await tx`alter table schema_migrations add column if not exists must_know boolean not null default false`;
  await tx`create table if not exists schema_functions (hash text not null)`;
}

/** Including all their columns. */
async function hasTables(sql: Sql): Promise<boolean> {
  try {
    await selectApplied(sql);
    await sql`select hash from schema_functions`;
    return true;
  } catch (error) {
    if (["42P01", "42703"].includes(codeOf(error))) return false;
    throw error;
  }
}

const selectApplied = (sql: Sql): Promise<AppliedMigration[]> =>
  sql<AppliedMigration[]>`select name, hash, must_know from schema_migrations order by name`;

/** Another node may have applied it meanwhile. */
const isPending = async (sql: Sql, migration: Migration): Promise<boolean> =>
  pendingOf(await selectApplied(sql), [migration]).length > 0;

const record = (sql: Sql, { name, hash }: Migration): Promise<unknown> =>
  sql`insert into schema_migrations (name, hash) values (${name}, ${hash})`.execute();

async function applyWhole(database: Database, migration: Migration, wait: WaitOptions): Promise<boolean> {
  return changeSchema(database, `The migration ${migration.name}`, wait, async (tx) => {
    if (!(await isPending(tx, migration))) return false;
    await tx.unsafe(migration.sql);
    await record(tx, migration);
    return true;
  });
}

/** Runs concurrently with traffic, statement by statement. After an interruption everything runs again. */
async function buildIndexes(
  database: Database,
  migration: Migration,
  statements: readonly IndexStatement[],
  wait: WaitOptions,
): Promise<boolean> {
  const report = throttled(wait);
  const onBlocked = (holder: string): void => report(`The migration ${migration.name} waits for ${holder}`);
  return database.session(
    async (sql) => {
      await untilLocked(`The migration ${migration.name}`, wait, () =>
        lockSchema(sql, "exclusive until the session ends"),
      );
      if (!(await isPending(sql, migration))) return false;
      // Waiting blocks no other query, and a timeout would repeat all the work.
      await sql`set lock_timeout = 0`;
      // The build ends with this process. Not every operating system supports it.
      await sql`set client_connection_check_interval = 1000`.catch(() => undefined);
      await watched(database, sql, onBlocked, wait.signal, async () => {
        for (const statement of statements) await changeIndex(sql, statement, wait);
      });
      await record(sql, migration);
      return true;
    },
    { deadlineMs: longWorkMs },
  );
}

async function markNeeded(
  { sql }: Database,
  before: readonly AppliedMigration[],
  applied: readonly string[],
  mustKnow: string | undefined,
): Promise<void> {
  if (mustKnow === undefined) return;
  const isNew = applied.includes(mustKnow) || before.some(({ name, must_know }) => name === mustKnow && !must_know);
  if (isNew) await sql`update schema_migrations set must_know = true where name = ${mustKnow}`;
}

export async function readMigrations(dir: string): Promise<Migration[]> {
  const names = (await readdir(dir)).filter((name) => name.endsWith(".sql")).sort();
  const numbers = new Set<string>();
  const migrations: Migration[] = [];
  for (const name of names) {
    const number = /^(\d{4})-[a-z0-9-]+\.sql$/.exec(name)?.[1];
    if (!number) throw new Error(`The migration ${name} must be named NNNN-name.sql`);
    if (numbers.has(number)) throw new Error(`Two migrations have the number ${number}`);
    numbers.add(number);
    const sql = await readFile(join(dir, name), "utf8");
    migrations.push({ name, sql, hash: createHash("sha256").update(sql).digest("hex") });
  }
  return migrations;
}
