import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { whileKeyStays } from "../vault/change-key.ts";
import { connect, type Database, migrate, type Sql } from "./index.ts";
import { whileSchemaStays } from "./schema-lock.ts";

let dir: string;
let own: Awaited<ReturnType<typeof testDatabase>>;
let database: Database;
let reported: string[];
const report = (text: string) => void reported.push(text);

const files = () => ({ migrations: dir, functions: dir });
const put = (name: string, sql: string): Promise<void> => writeFile(join(dir, name), sql);

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "gantry-migrations-"));
  own = await testDatabase();
  database = own.database;
  reported = [];
  await database.sql`truncate schema_migrations`;
  await database.sql`create table thing (id int)`;
  await database.sql`insert into thing select generate_series(1, 1000)`;
});

afterEach(async () => {
  await own.drop();
  await rm(dir, { recursive: true, force: true });
});

/** A transaction that stays open until the returned function is called. */
async function beginAndWait(begin: (tx: Sql) => Promise<unknown>): Promise<() => Promise<void>> {
  const other = connect({ url: own.url, poolSize: 1, applicationName: "slow reader" });
  const { promise: asked, resolve: end } = Promise.withResolvers<void>();
  const { promise: begun, resolve: hasBegun } = Promise.withResolvers<void>();
  const held = other.transaction(async (tx) => {
    await begin(tx);
    hasBegun();
    await asked;
  });
  await begun;
  return async () => {
    end();
    await held;
    await other.close();
  };
}

const readThing = (tx: Sql): Promise<unknown> => tx`select 1 from thing limit 1`.execute();

const queued = async (): Promise<number> =>
  (await database.sql`select 1 from pg_locks where not granted and relation = 'thing'::regclass`).length;

const indexes = async () =>
  database.sql<{ name: string; valid: boolean }[]>`
    select indexrelid::regclass::text as name, indisvalid as valid from pg_index
    where indrelid = 'thing'::regclass order by 1`;

describe("a migration without its lock", () => {
  beforeEach(() => put("9001-more.sql", "alter table thing add column more int"));

  test("lets other queries pass between its attempts, names the blocking process, and finishes", async () => {
    const letGo = await beginAndWait(readThing);
    const migrating = migrate(database, files(), { report });
    let longest = 0;
    for (const until = performance.now() + 7000; performance.now() < until; ) {
      const start = performance.now();
      await database.sql`select count(*) from thing`;
      longest = Math.max(longest, performance.now() - start);
    }
    expect(longest).toBeGreaterThan(500); // The migration did block.
    expect(longest).toBeLessThan(6500);
    expect(reported).toEqual([
      expect.stringMatching(
        /^The migration 9001-more.sql waits for process \d+ of PostgreSQL \(application slow reader, for \d+ s\)$/,
      ),
    ]);
    await letGo();
    expect(await migrating).toEqual(["9001-more.sql"]);
  }, 30_000);

  test("stops at once on its signal and leaves the lock queue", async () => {
    const letGo = await beginAndWait(readThing);
    const stop = new AbortController();
    const migrating = migrate(database, files(), { signal: stop.signal });
    await waitFor("it to wait", async () => (await queued()) === 1);
    const start = performance.now();
    stop.abort();
    await expect(migrating).rejects.toThrow("aborted");
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(await queued()).toBe(0);
    // During its pause as well.
    const again = new AbortController();
    const pausing = migrate(database, files(), { signal: again.signal });
    await waitFor("it to wait", async () => (await queued()) === 1);
    await waitFor("it to step aside", async () => (await queued()) === 0);
    again.abort();
    await expect(pausing).rejects.toThrow("aborted");
    await letGo();
    expect(await migrate(database, files())).toEqual(["9001-more.sql"]);
  }, 30_000);
});

describe("a backup, which needs the schema unchanged", () => {
  test("makes a migration wait, which is reported and can be stopped", async () => {
    await put("9001-more.sql", "alter table thing add column more int");
    const backup = connect({ url: own.url, poolSize: 1, applicationName: "copying" });
    const { promise: copied, resolve: end } = Promise.withResolvers<void>();
    const { promise: begun, resolve: hasBegun } = Promise.withResolvers<void>();
    const staying = whileSchemaStays(backup, {}, () => {
      hasBegun();
      return copied;
    });
    await begun;
    const stop = new AbortController();
    const migrating = migrate(database, files(), { report, signal: stop.signal });
    await waitFor("the report", () => reported.length > 0);
    expect(reported[0]).toMatch(
      /^Waiting: another program migrates this database or backs it up: process \d+ .+application copying/,
    );
    stop.abort();
    await expect(migrating).rejects.toThrow("aborted");
    end();
    await staying;
    await backup.close();
    expect(await migrate(database, files())).toEqual(["9001-more.sql"]);
  });

  test("waits for a running migration and reports it", async () => {
    await put("9001-slow.sql", "select pg_sleep(1); alter table thing add column more int");
    const migrating = migrate(database, files());
    await waitFor("it to begin", async () => {
      const found = await database.sql`select 1 from pg_stat_activity where query like 'select pg_sleep(1)%'`;
      return found.length > 0;
    });
    const seen = await whileSchemaStays(database, { report }, async () => database.sql`select more from thing limit 1`);
    expect(seen).toEqual([{ more: null }]);
    expect(reported).toHaveLength(1);
    await migrating;
  });
});

describe("a migration without a transaction", () => {
  const twoIndexes = `-- no transaction
-- A comment.
create index concurrently if not exists thing_id on thing (id);
create unique index concurrently if not exists thing_twice
  on thing ((id * 2)) where id > 0;
`;

  test("builds its indexes during writes", async () => {
    await put("9001-indexes.sql", twoIndexes);
    await put("9002-less.sql", "-- no transaction\ndrop index concurrently if exists thing_id;");
    const written: Promise<unknown>[] = [];
    const write = () => written.push(database.sql`insert into thing values (${1001 + written.length})`.execute());
    const writing = setInterval(write, 20);
    expect(await migrate(database, files())).toEqual(["9001-indexes.sql", "9002-less.sql"]);
    clearInterval(writing);
    await Promise.all(written);
    expect(await indexes()).toEqual([{ name: "thing_twice", valid: true }]);
    expect(await migrate(database, files())).toEqual([]);
  });

  test("builds an index of a partitioned table on each partition, and continues after an interruption", async () => {
    await database.sql.unsafe(`
      create table parted (id int) partition by range (id);
      create table parted_default partition of parted default;
      create table parted_1 partition of parted for values from (0) to (500);
      insert into parted select generate_series(1, 1000)`);
    await put(
      "9001-indexes.sql",
      "-- no transaction\ncreate index concurrently if not exists parted_id on parted (id);",
    );
    const letGo = await beginAndWait((tx) =>
      tx`set transaction isolation level repeatable read`.then(() => tx`select 1 from parted limit 1`),
    );
    const stop = new AbortController();
    const migrating = migrate(database, files(), { report, signal: stop.signal });
    await waitFor("it to wait for the reader", () => reported.some((text) => text.includes("slow reader")));
    // Writers do not wait.
    await database.sql`insert into parted values (1)`;
    stop.abort();
    await expect(migrating).rejects.toThrow("aborted");
    await letGo();
    await database.sql`create table parted_2 partition of parted for values from (2000) to (3000)`;
    expect(await migrate(database, files())).toEqual(["9001-indexes.sql"]);
    const built = await database.sql<{ table: string; valid: boolean }[]>`
      select indrelid::regclass::text as table, indisvalid as valid from pg_index
      where indrelid::regclass::text like 'parted%' order by 1`;
    expect([...built]).toEqual(
      ["parted", "parted_1", "parted_2", "parted_default"].map((table) => ({ table, valid: true })),
    );
  });

  test("may contain only statements that can be repeated", async () => {
    await put("9001-more.sql", "-- no transaction\nalter table thing add column more int;");
    await expect(migrate(database, files())).rejects.toThrow("9001-more.sql is marked");
  });

  test("runs once if nodes start together", async () => {
    await put("9001-indexes.sql", twoIndexes);
    const nodes = Array.from({ length: 3 }, () => connect({ url: own.url, poolSize: 2 }));
    const applied = await Promise.all(nodes.map((node) => migrate(node, files())));
    await Promise.all(nodes.map((node) => node.close()));
    expect(applied.flat()).toEqual(["9001-indexes.sql"]);
  });

  test("does not deadlock with nodes at an earlier migration and backups", async () => {
    await put("9001-slow.sql", "select pg_sleep(1)");
    await put("9002-indexes.sql", twoIndexes);
    const nodes = Array.from({ length: 2 }, () => connect({ url: own.url, poolSize: 2 }));
    const starting = nodes.map((node) => migrate(node, files()));
    await waitFor("the slow one to begin", async () => {
      const found = await database.sql`select 1 from pg_stat_activity where query like 'select pg_sleep(1)%'`;
      return found.length > 0;
    });
    const backup = whileKeyStays(database, () => whileSchemaStays(database, {}, () => indexes()));
    const applied = await Promise.all(starting);
    await Promise.all(nodes.map((node) => node.close()));
    expect(applied.flat().sort()).toEqual(["9001-slow.sql", "9002-indexes.sql"]);
    await backup;
  }, 15_000);

  test("stops on its signal during a build and finishes at the next start", async () => {
    await put("9001-indexes.sql", twoIndexes);
    const letGo = await beginAndWait((tx) =>
      tx`set transaction isolation level repeatable read`.then(() => readThing(tx)),
    );
    const stop = new AbortController();
    const migrating = migrate(database, files(), { report, signal: stop.signal });
    await waitFor("it to wait for the reader", () => reported.some((text) => text.includes("slow reader")));
    expect(await indexes()).toEqual([{ name: "thing_id", valid: false }]);
    stop.abort();
    await expect(migrating).rejects.toThrow("aborted");
    await letGo();
    expect(await migrate(database, files())).toEqual(["9001-indexes.sql"]);
    expect(await indexes()).toEqual([
      { name: "thing_id", valid: true },
      { name: "thing_twice", valid: true },
    ]);
  });

  test("ends with its killed process (-9) during a build and finishes at the next start", async () => {
    await put("9001-indexes.sql", twoIndexes);
    const letGo = await beginAndWait((tx) =>
      tx`set transaction isolation level repeatable read`.then(() => readThing(tx)),
    );
    const killed = startMigrating();
    await waitFor("it to wait for the reader", () => killed.output().includes("slow reader"));
    killed.child.kill("SIGKILL");
    await once(killed.child, "close");
    expect(await indexes()).toEqual([{ name: "thing_id", valid: false }]);
    await waitFor("the server to notice", async () => (await backendsOf("migrating")) === 0);
    await letGo();
    const next = startMigrating();
    await once(next.child, "close");
    expect(next.output()).toContain("applied 9001-indexes.sql");
    expect((await indexes()).map(({ valid }) => valid)).toEqual([true, true]);
  }, 30_000);

  function startMigrating(): { child: ChildProcess; output(): string } {
    const file = fileURLToPath(new URL("./migrate.fixture.ts", import.meta.url));
    const child = spawn(process.execPath, [file, own.url, dir], { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    return { child, output: () => output };
  }

  const backendsOf = async (application: string): Promise<number> =>
    (await database.sql`select 1 from pg_stat_activity where application_name = ${application}`).length;
});
