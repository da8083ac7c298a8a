import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { oldestToKnow } from "../../src/compose/own-schema.ts";
import type { Database } from "../../src/engines/database/index.ts";
import { testDatabase } from "../support/database.ts";
import { databaseOf0050, settingsOf0050 } from "../support/database-of-0050.ts";
import { gantryCommand, startCommand } from "../support/gantry-command.ts";
import { waitFor } from "../support/wait-for.ts";
import { endEverything, type ServerProcess, startServer } from "./server-process.ts";

let room: string;
let own: Awaited<ReturnType<typeof testDatabase>> | undefined;
const servers: ServerProcess[] = [];

beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-upgrade-"));
});

afterEach(async () => {
  await endEverything(servers.splice(0), []);
  await own?.drop();
});

afterAll(() => rm(room, { recursive: true, force: true }));

async function on(opening: ReturnType<typeof testDatabase>): Promise<Database> {
  own = await opening;
  return own.database;
}

function start(): ServerProcess {
  const env = { DATABASE_URL: own?.url ?? "", GANTRY_HOME: join(room, "home"), ...settingsOf0050 };
  const server = startServer(env);
  servers.push(server);
  return server;
}

/** A long transaction that writes to a table which the upgrade changes. */
async function keepWalletsBusy(database: Database): Promise<() => Promise<void>> {
  const { promise: asked, resolve: end } = Promise.withResolvers<void>();
  const { promise: begun, resolve: hasBegun } = Promise.withResolvers<void>();
  const held = database.transaction(async (tx) => {
    await tx`lock table wallets in row exclusive mode`;
    hasBegun();
    await asked;
  });
  await begun;
  return async () => {
    end();
    await held;
  };
}

test("a start that waits for a lock names its holder, and SIGTERM stops it without leaving a waiting lock", async () => {
  const database = await on(databaseOf0050());
  const letGo = await keepWalletsBusy(database);
  const queued = async (): Promise<number> =>
    (await database.sql`select 1 from pg_locks where not granted and relation = to_regclass('wallets')`).length;
  const isApplied = async (): Promise<boolean> =>
    (await database.sql`select 1 from schema_migrations where name = ${oldestToKnow}`).length > 0;
  const server = start();
  await waitFor(
    "it to say so",
    () => server.stdout().includes("The upgrade of this database waits for process"),
    30_000,
  );
  expect(server.stdout()).toMatch(/"level":40,.+waits for process \d+ of PostgreSQL \(application gantry, for \d+ s\)/);
  await waitFor("it to be in the queue", async () => (await queued()) === 1);
  const asked = performance.now();
  server.kill("SIGTERM");
  expect(await server.exit).toEqual({ code: 0, signal: null });
  expect(performance.now() - asked).toBeLessThan(15_000);
  expect([server.stderr(), await queued(), await isApplied()]).toEqual(["", 0, false]);

  // A killed start gives up its lock request within the time limit of a migration.
  const killed = start();
  await waitFor("it to be in the queue", async () => (await queued()) === 1, 30_000);
  killed.kill("SIGKILL");
  await waitFor("the server to notice", async () => (await queued()) === 0);
  await letGo();
  await start().url();
  expect(await isApplied()).toBe(true);
}, 90_000);

test("an upgrade waits for a running backup, which can be restored", async () => {
  const database = await on(testDatabase());
  // Gives the start something to change.
  await database.sql`update schema_functions set hash = 'of before'`;
  const isApplied = async (): Promise<boolean> =>
    (await database.sql`select 1 from schema_functions where hash <> 'of before'`).length > 0;
  await database.sql`
    insert into users (id, username, role, plan, created_at) values ('usr_a', 'anna', 'user', 'free', now())`;
  await database.sql`insert into wallets (user_id) values ('usr_a')`;
  const target = join(room, "slow.tar");
  const { child, ended } = startCommand(["backup", target, "--no-files"], {
    DATABASE_URL: own?.url ?? "",
    GANTRY_HOME: join(room, "home"),
    ...settingsOf0050,
  });
  const isReading = async (): Promise<boolean> =>
    (
      await database.sql`
      select 1 from pg_locks join pg_stat_activity using (pid)
      where locktype = 'advisory' and mode = 'ShareLock' and objid = 7242001 and application_name = 'gantry-tool'`
    ).length > 0;
  await waitFor("it to read", isReading, 30_000);
  child.kill("SIGSTOP");
  const server = start();
  await waitFor("the start to say so", () => server.stdout().includes("backs it up: process"), 30_000);
  expect(server.stdout()).toContain("application gantry-tool");
  expect(await isApplied()).toBe(false);
  child.kill("SIGCONT");
  expect((await ended).code).toBe(0);
  await server.url();
  expect(await isApplied()).toBe(true);

  const elsewhere = await testDatabase();
  await elsewhere.database.sql.unsafe("drop schema public cascade; create schema public");
  const env = { GANTRY_HOME: join(room, "elsewhere"), DATABASE_URL: elsewhere.url, ...settingsOf0050 };
  const restored = await gantryCommand(["restore", target], env);
  expect(restored.code, restored.stderr).toBe(0);
  expect(await elsewhere.database.sql`select username from users`).toEqual([{ username: "anna" }]);
  await elsewhere.drop();
}, 90_000);

test("a program too old for the database refuses to start; a compatible one names the newer migrations", async () => {
  const database = await on(testDatabase());
  await start().url();
  await database.sql`insert into schema_migrations (name, hash) values ('9000-next.sql', 'x'), ('9001-later.sql', 'y')`;
  const oneBack = start();
  await oneBack.url();
  expect(oneBack.stdout()).toMatch(/"level":40,.+Unknown migrations: 9000-next\.sql, 9001-later\.sql"/);
  await database.sql`update schema_migrations set must_know = true where name = '9000-next.sql'`;
  const tooOld = start();
  expect(await tooOld.exit).toEqual({ code: 1, signal: null });
  expect(tooOld.stderr()).toMatch(/^A newer Gantry has upgraded this database, .+ 9000-next\.sql\. Start .+\n$/);
}, 90_000);

test("the recorded compatibility is that of one version back", async () => {
  const database = await on(testDatabase());
  await start().url();
  const marked = await database.sql`select name from schema_migrations where must_know`;
  expect(marked).toEqual([{ name: oldestToKnow }]);
}, 60_000);
