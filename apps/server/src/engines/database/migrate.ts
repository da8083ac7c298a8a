import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Database, Sql } from "./database.ts";
import { areApplied, readFunctions, replaceFunctions } from "./functions.ts";
import {
  type AppliedMigration,
  type IndexStatement,
  type Migration,
  newerOf,
  pendingOf,
  statementsOutside,
} from "./migration.rules.ts";
import { changeSchema, nowAndThen, type Patience, takeSchema, untilLocked, watched } from "./schema-lock.ts";
import { codeOf, isDenied } from "./unavailable.ts";

/** Building an index beside the traffic on a large table takes long, and so does adopting a large database. */
const longWorkMs = 6 * 3_600_000;

/** Where the schema is written down. */
export interface SchemaFiles {
  /** Tables, types and indexes: `NNNN-name.sql`, each applied once. */
  migrations: string;
  /** SQL functions: the folder of the features, whose `sql/*.sql` hold the current text. */
  functions: string;
}

export interface MigrateOptions extends Patience {
  /** Those of these names and no others: a backup is restored into the schema of its time. */
  only?: ReadonlySet<string> | undefined;
  /** The migration without which a program must not work on this database from now on. */
  mustKnow?: string | undefined;
}

/**
 * Applies the migrations that the database lacks, in order, each in its own transaction, or outside any if its first line
 * says so. Then replaces the SQL functions if their text has changed. Forward only. Nodes that start at the same time take
 * turns at a lock, and the later ones find nothing to do. A database of before the first migration is adopted.
 *
 * A database with migrations that this program does not know is accepted, and they are named: migrations only add, so the
 * version before still runs during a rolling upgrade. Its functions stay those of the newer program. The database records
 * which migration a program must know, and older programs are refused. Returns the names of the applied migrations.
 */
export async function migrate(database: Database, files: SchemaFiles, options: MigrateOptions = {}): Promise<string[]> {
  try {
    return await migrateAll(database, files, options);
  } catch (error) {
    throw isDenied(error) ? await lackOfRights(database, error as Error) : error;
  }
}

async function lackOfRights({ sql }: Database, error: Error): Promise<Error> {
  const [at] = await sql<{ role: string; name: string; schema: string }[]>`
    select current_user as role, current_database() as name, current_schema() as schema`;
  const reason = error.cause instanceof Error ? error.cause.message : error.message;
  return new Error(
    `The role "${at?.role}" lacks rights that Gantry needs in the database "${at?.name}" (${reason}): it must own the ` +
      `tables, if there are any, and needs this: grant usage, create on schema "${at?.schema}" to "${at?.role}"`,
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
    options.tell?.(`A newer Gantry has upgraded this database; this one does not know ${newer.join(", ")}`);
  const applied = adopted ? [adopted] : [];
  for (const migration of pendingOf(before, wanted)) {
    const statements = statementsOutside(migration);
    const isDone = statements
      ? await buildBeside(database, migration, statements, options)
      : await applyWhole(database, migration, options);
    if (isDone) applied.push(migration.name);
  }
  await markNeeded(database, before, applied, options.mustKnow);
  await applyFunctions(database, files.functions, known, options);
  return applied;
}

/**
 * `adopt/NNNN-name.sql` brings a database whose last migration has that name to the first one of `known`, which replaces
 * all migrations before it. Returns the name of that first one if the database was adopted.
 */
async function adopt(
  database: Database,
  dir: string,
  known: readonly Migration[],
  patience: Patience,
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
      `This database is too old for this Gantry: its last migration is ${last}, and this one upgrades from ` +
        `${script.name}. Start the version before this one once, then this one again.`,
    );
  };
  if (!(await isDue(database.sql))) return undefined;
  const upgrade = async (tx: Sql): Promise<string | undefined> => {
    if (!(await isDue(tx))) return undefined;
    await createTables(tx);
    await tx.unsafe(script.sql);
    await tx`delete from schema_migrations`;
    await record(tx, baseline);
    // Programs from before do not know this one, and refuse to start.
    await tx`update schema_migrations set must_know = true`;
    return baseline.name;
  };
  return changeSchema(database, "The upgrade of this database", patience, upgrade, longWorkMs);
}

/** In order. Empty if the table does not exist. */
async function selectNames(sql: Sql): Promise<string[]> {
  const [table] = await sql`select to_regclass('schema_migrations') as found`;
  if (!table?.found) return [];
  const rows = await sql<{ name: string }[]>`select name from schema_migrations order by name collate "C"`;
  return rows.map(({ name }) => name);
}

/**
 * Only by a program whose migrations are exactly those of the database. An older node that restarts during an upgrade
 * must not put its functions back, and those of today do not fit the schema of an older backup.
 */
async function applyFunctions(
  database: Database,
  dir: string,
  known: readonly Migration[],
  patience: Patience,
): Promise<void> {
  const functions = await readFunctions(dir);
  const areDue = async (sql: Sql): Promise<boolean> => {
    if (await areApplied(sql, functions)) return false;
    const applied = await selectApplied(sql);
    return pendingOf(applied, known).length === 0 && newerOf(applied, known).length === 0;
  };
  if (!(await areDue(database.sql))) return;
  await changeSchema(database, "The change of the SQL functions", patience, async (tx) => {
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

/** With all their columns. */
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

/** Another node may have been faster. */
const isPending = async (sql: Sql, migration: Migration): Promise<boolean> =>
  pendingOf(await selectApplied(sql), [migration]).length > 0;

const record = (sql: Sql, { name, hash }: Migration): Promise<unknown> =>
  sql`insert into schema_migrations (name, hash) values (${name}, ${hash})`.execute();

/** All of it or nothing. */
async function applyWhole(database: Database, migration: Migration, patience: Patience): Promise<boolean> {
  return changeSchema(database, `The migration ${migration.name}`, patience, async (tx) => {
    if (!(await isPending(tx, migration))) return false;
    await tx.unsafe(migration.sql);
    await record(tx, migration);
    return true;
  });
}

/**
 * Statement by statement, beside all traffic. Whatever cuts it off, it is run again from its start; what a statement had
 * begun by then is an index that is not valid, which is never used and never finished.
 */
async function buildBeside(
  database: Database,
  migration: Migration,
  statements: readonly IndexStatement[],
  patience: Patience,
): Promise<boolean> {
  const tell = nowAndThen(patience);
  const say = (holder: string): void => tell(`The migration ${migration.name} waits for ${holder}`);
  return database.session(
    async (sql) => {
      await untilLocked(`The migration ${migration.name}`, patience, () =>
        takeSchema(sql, "exclusive until the session ends"),
      );
      if (!(await isPending(sql, migration))) return false;
      // It stands in nobody's way while it waits, and would have to begin again.
      await sql`set lock_timeout = 0`;
      // So that it ends with its process. Not every system that PostgreSQL runs on can tell.
      await sql`set client_connection_check_interval = 1000`.catch(() => undefined);
      await watched(database, sql, say, patience.signal, async () => {
        for (const { text, index, builds } of statements) {
          if (builds) await dropUnfinished(sql, index);
          await sql.unsafe(text);
        }
      });
      await record(sql, migration);
      return true;
    },
    { deadlineMs: longWorkMs },
  );
}

async function dropUnfinished(sql: Sql, index: string): Promise<void> {
  const found = await sql`
    select 1 from pg_index where indexrelid = to_regclass(${index}) and not indisvalid`;
  if (found.length > 0) await sql.unsafe(`drop index concurrently ${index}`);
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
    if (!number) throw new Error(`The migration ${name} is not named NNNN-name.sql`);
    if (numbers.has(number)) throw new Error(`Two migrations have the number ${number}`);
    numbers.add(number);
    const sql = await readFile(join(dir, name), "utf8");
    migrations.push({ name, sql, hash: createHash("sha256").update(sql).digest("hex") });
  }
  return migrations;
}
