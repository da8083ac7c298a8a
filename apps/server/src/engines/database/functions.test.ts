import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { connect, type Database, migrate, type SchemaFiles } from "./index.ts";

let dir: string;
let files: SchemaFiles;
let own: Awaited<ReturnType<typeof testDatabase>>;
let database: Database;

const put = (path: string, sql: string): Promise<void> => writeFile(join(dir, path), sql);
const returning = (name: string, value: number): string =>
  `create or replace function ${name}() returns int language sql as 'select ${value}';`;
const answers = async (name: string): Promise<unknown> =>
  (await database.sql.unsafe<{ value: number }[]>(`select ${name}() as value`))[0]?.value;
/** Changes with every replacement of the function. */
const written = async (): Promise<unknown> =>
  (await database.sql`select xmin::text as by from pg_proc where proname = 'first'`)[0]?.by;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "gantry-functions-"));
  files = { migrations: join(dir, "migrations"), functions: join(dir, "features") };
  for (const folder of ["migrations", "features/a/sql", "features/b/sql"])
    await mkdir(join(dir, folder), { recursive: true });
  own = await testDatabase();
  database = own.database;
  await database.sql.unsafe("drop schema public cascade; create schema public");
  await put("migrations/0001-thing.sql", "create table thing (id int)");
  await put("features/a/sql/first.sql", returning("first", 1));
  await put("features/b/sql/second.sql", returning("second", 2));
  await migrate(database, files);
});

afterEach(async () => {
  await own.drop();
  await rm(dir, { recursive: true, force: true });
});

test("functions are replaced when their text has changed, and only then", async () => {
  expect([await answers("first"), await answers("second")]).toEqual([1, 2]);
  const before = await written();
  await migrate(database, files);
  expect(await written()).toBe(before);
  await put("features/a/sql/first.sql", returning("first", 3));
  await migrate(database, files);
  expect([await answers("first"), await answers("second")]).toEqual([3, 2]);
});

test("a function may use one from a later file", async () => {
  await put(
    "features/a/sql/first.sql",
    "create or replace function first() returns int language sql as 'select later()'",
  );
  await put("features/b/sql/later.sql", returning("later", 4));
  await migrate(database, files);
  expect(await answers("first")).toBe(4);
});

test("a function without a file stays for older nodes", async () => {
  await rm(join(dir, "features/b/sql/second.sql"));
  await migrate(database, files);
  expect(await answers("second")).toBe(2);
});

test("an error names its file and leaves every function unchanged", async () => {
  await put("features/a/sql/first.sql", returning("first", 3));
  await put("features/b/sql/second.sql", "create or replace function second() returns nonsense language sql as ''");
  await expect(migrate(database, files)).rejects.toThrow('b/sql/second.sql: type "nonsense" does not exist');
  expect([await answers("first"), await answers("second")]).toEqual([1, 2]);
  await put("features/b/sql/second.sql", returning("second", 4));
  await migrate(database, files);
  expect([await answers("first"), await answers("second")]).toEqual([3, 4]);
});

test("an older program does not restore its functions", async () => {
  await put("migrations/0002-more.sql", "alter table thing add column more int");
  await put("features/a/sql/first.sql", returning("first", 3));
  await migrate(database, files);
  // The previous version restarts.
  await rm(join(dir, "migrations/0002-more.sql"));
  await put("features/a/sql/first.sql", returning("first", 1));
  await migrate(database, files);
  expect(await answers("first")).toBe(3);
});

test("functions wait for the last migration", async () => {
  await put("migrations/0002-more.sql", "alter table thing add column more int");
  await put("features/a/sql/first.sql", "create or replace function first() returns int language sql as 'select 3'");
  await migrate(database, files, { only: new Set(["0001-thing.sql"]) });
  expect(await answers("first")).toBe(1);
  await migrate(database, files);
  expect(await answers("first")).toBe(3);
});

test("nodes that start at the same time replace functions once", async () => {
  const inserted = async () =>
    (await database.sql`select n_tup_ins::int as n from pg_stat_user_tables where relname = 'schema_functions'`)[0]?.n;
  await put("features/a/sql/first.sql", `select pg_sleep(0.2); ${returning("first", 3)}`);
  const nodes = Array.from({ length: 3 }, () => connect({ url: own.url, poolSize: 2 }));
  await Promise.all(nodes.map((node) => migrate(node, files)));
  await Promise.all(nodes.map((node) => node.close()));
  expect(await answers("first")).toBe(3);
  await expect.poll(inserted).toBe(2);
  expect(await database.sql`select 1 from schema_functions`).toHaveLength(1);
});
