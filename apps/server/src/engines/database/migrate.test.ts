import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ownSchema, testDatabase } from "../../../test/support/database.ts";
import { connect, type Database, migrate } from "./index.ts";

let dir: string;
let own: Awaited<ReturnType<typeof testDatabase>>;
let database: Database;

const files = () => ({ migrations: dir, functions: dir });
const put = (name: string, sql: string): Promise<void> => writeFile(join(dir, name), sql);
const names = async (): Promise<unknown[]> =>
  (await database.sql`select name from schema_migrations where name like '9%' order by name`).map(({ name }) => name);

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "gantry-migrations-"));
  own = await testDatabase();
  database = own.database;
});

afterEach(async () => {
  await own.drop();
  await rm(dir, { recursive: true, force: true });
});

test("applies missing migrations in order, once", async () => {
  await put("9002-second.sql", "insert into thing values (2); insert into thing values (3)");
  await put("9001-first.sql", "create table thing (id int)");
  expect(await migrate(database, files())).toEqual(["9001-first.sql", "9002-second.sql"]);
  expect(await migrate(database, files())).toEqual([]);
  await put("9003-third.sql", "insert into thing values (4)");
  expect(await migrate(database, files())).toEqual(["9003-third.sql"]);
  expect((await database.sql`select id from thing order by id`).map(({ id }) => id)).toEqual([2, 3, 4]);
});

test("a failing migration is rolled back and stops the later ones", async () => {
  await put("9001-good.sql", "create table good (id int)");
  await put("9002-bad.sql", "create table half (id int); select nonsense");
  await put("9003-never.sql", "create table never (id int)");
  await expect(migrate(database, files())).rejects.toMatchObject({ code: "42703" });
  expect(await names()).toEqual(["9001-good.sql"]);
  const [found] = await database.sql`select to_regclass('half') as half, to_regclass('never') as never`;
  expect(found).toEqual({ half: null, never: null });
});

test("an applied migration that was changed is an error", async () => {
  await put("9001-first.sql", "create table thing (id int)");
  await migrate(database, files());
  await put("9001-first.sql", "create table thing (id int8)");
  await expect(migrate(database, files())).rejects.toThrow("The migration 9001-first.sql was changed");
});

test("a database with newer migrations is accepted", async () => {
  await put("9001-first.sql", "create table thing (id int)");
  await put("9002-second.sql", "create table other (id int)");
  await migrate(database, files());
  await rm(join(dir, "9002-second.sql"));
  expect(await migrate(database, files())).toEqual([]);
});

test("unknown migrations are reported and accepted", async () => {
  await put("9001-first.sql", "create table thing (id int)");
  await migrate(database, files());
  const reported: string[] = [];
  expect(await migrate(database, ownSchema, { report: (text) => reported.push(text) })).toEqual([]);
  expect(reported).toEqual(["A newer Gantry has upgraded this database. Unknown migrations: 9001-first.sql"]);
});

test("a program without a required migration is refused and changes nothing", async () => {
  await put("9001-first.sql", "create table thing (id int)");
  await put("9002-second.sql", "create table other (id int)");
  await migrate(database, files(), { mustKnow: "9001-first.sql" });
  // The previous version knows it.
  await rm(join(dir, "9002-second.sql"));
  expect(await migrate(database, files())).toEqual([]);
  await rm(join(dir, "9001-first.sql"));
  await put("9003-of-a-fork.sql", "create table forked (id int)");
  await expect(migrate(database, files())).rejects.toThrow(
    /^A newer Gantry has upgraded this database, .+ does not know the migration 9001-first.sql\. Start the newer/,
  );
  expect(await names()).toEqual(["9001-first.sql", "9002-second.sql"]);
});

test("a migration can become required after it was applied", async () => {
  await put("9001-first.sql", "create table thing (id int)");
  await migrate(database, files());
  // As an older version left it.
  await database.sql`alter table schema_migrations drop column must_know`;
  expect(await migrate(database, files(), { mustKnow: "9001-first.sql" })).toEqual([]);
  await expect(migrate(database, ownSchema)).rejects.toThrow("does not know the migration 9001-first.sql");
});

test("missing privileges are reported with the grant to run", async () => {
  await put("9001-first.sql", "create table thing (id int)");
  const role = `little_${randomBytes(4).toString("hex")}`;
  await database.sql.unsafe(`create role ${role} login password 'test'`);
  const address = Object.assign(new URL(own.url), { username: role });
  const name = address.pathname.slice(1);
  const little = connect({ url: address.toString(), poolSize: 2 });
  const advice = (reason: string): string =>
    `The role "${role}" lacks privileges in the database "${name}" (${reason}). The role must own Gantry's tables. ` +
    `Then run: grant usage, create on schema "public" to "${role}"`;
  try {
    await expect(migrate(little, files())).rejects.toThrow(advice("permission denied for table schema_migrations"));
    await database.sql.unsafe(`grant select on schema_migrations, schema_functions to ${role}`);
    await expect(migrate(little, files())).rejects.toThrow(advice("permission denied for schema public"));
  } finally {
    await little.close();
    await database.sql.unsafe(`drop owned by ${role}`);
    await database.sql.unsafe(`drop role ${role}`);
  }
});

test("ambiguous names are refused", async () => {
  await put("9001-one.sql", "select 1");
  await put("9001-two.sql", "select 1");
  await expect(migrate(database, files())).rejects.toThrow("number 9001");
  await rm(join(dir, "9001-two.sql"));
  await put("nine.sql", "select 1");
  await expect(migrate(database, files())).rejects.toThrow("nine.sql must be named");
});

test("nodes that start together migrate once, also an empty database", async () => {
  await database.sql`drop table schema_migrations`;
  for (let n = 1; n <= 5; n++) await put(`900${n}-step.sql`, `create table step_${n} (id int); select pg_sleep(0.05)`);
  const nodes = Array.from({ length: 3 }, () => connect({ url: own.url, poolSize: 2 }));
  const applied = await Promise.all(nodes.map((node) => migrate(node, files())));
  await Promise.all(nodes.map((node) => node.close()));
  expect(applied.flat().sort()).toEqual([1, 2, 3, 4, 5].map((n) => `900${n}-step.sql`));
  expect(await names()).toHaveLength(5);
});

test("our own migrations are all in a fresh test database", async () => {
  expect(await migrate(database, ownSchema)).toEqual([]);
});
