import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Database, migrate } from "../../src/engines/database/index.ts";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { call } from "../proof/client.ts";
import { ownSchema, testDatabase } from "../support/database.ts";
import { databaseOf0050, keysOf0050, settingsOf0050 } from "../support/database-of-0050.ts";
import { schemaText } from "../support/schema-text.ts";
import { startServer } from "./server-process.ts";

let own: Awaited<ReturnType<typeof testDatabase>>;
let database: Database;

beforeEach(async () => {
  own = await databaseOf0050();
  database = own.database;
});
afterEach(() => own.drop());

const namesIn = async ({ sql }: Database): Promise<unknown[]> =>
  (await sql`select name, must_know from schema_migrations order by name`).map((row) => ({ ...row }));

test("a database from before the baseline gets its schema and keeps every row", async () => {
  const before = await rowsOf(database);
  expect((await migrate(database, ownSchema))[0]).toBe("0001-baseline.sql");
  const fresh = await testDatabase();
  expect(await schemaText(database.sql)).toBe(await schemaText(fresh.database.sql));
  await fresh.drop();
  // A program from before does not know this migration, and refuses to start.
  expect((await namesIn(database))[0]).toEqual({ name: "0001-baseline.sql", must_know: true });

  const after = await rowsOf(database);
  for (const [table, { columns, rows }] of before) {
    const now = after.get(table);
    if (!now || table === "schema_migrations") continue;
    const stay = columns.filter((column) => now.columns.includes(column));
    const [found, expected] = [chosen(now.rows, stay), chosen(rows, stay)];
    // Migrations add settings. Every model has a row of slots from now on, not only models that were called.
    expect(
      ["model_slots", "settings"].includes(table) ? found.filter((row) => expected.includes(row)) : found,
      table,
    ).toEqual(expected);
  }
  expect(await verifyLedger(database)).toEqual([]);
  expect(await migrate(database, ownSchema)).toEqual([]);
}, 60_000);

test("a server starts on it, continues unfinished work and serves its users", async () => {
  const [alice] = await database.sql<{ balance: number }[]>`
    select w.balance_micros / 1e6::float8 as balance from users join wallets w on w.user_id = id where username = 'alice'`;
  const home = await mkdtemp(join(tmpdir(), "gantry-adopted-"));
  const server = startServer({ DATABASE_URL: own.url, GANTRY_HOME: home, ...settingsOf0050 });
  try {
    const url = await server.url();
    const asAlice = { key: keysOf0050.alice };
    expect((await call(url, "GET", "/api/v2/me", asAlice)).body.balance).toBeCloseTo(alice?.balance ?? 0, 9);
    const images = async () => {
      const { results } = (await call(url, "GET", "/api/v2/usage?page_size=100", asAlice)).body;
      return results.filter((row: { model_name: string }) => row.model_name === "gantry/image").length;
    };
    expect(await images()).toBe(1);
    const form = { prompt: "a red drone", size: "1280x720" };
    const predicted = await call(url, "POST", "/api/v1/gantry/image/predict", { ...asAlice, form });
    expect(predicted.status, predicted.text).toBe(200);
    expect(await images()).toBe(2);
    // The models' backends are gone: the key is accepted, within its limit, and not charged for a failure.
    const failed = await call(url, "POST", "/api/v1/admin/make/predict", {
      key: keysOf0050.limited,
      form: { prompt: "x" },
    });
    expect(failed.status, failed.text).toBeGreaterThanOrEqual(500);
    await expect.poll(() => database.sql`select 1 from live_predictions`, { timeout: 60_000 }).toHaveLength(0);
    expect(await verifyLedger(database)).toEqual([]);
  } finally {
    server.kill("SIGTERM");
    await server.exit;
    await rm(home, { recursive: true, force: true });
  }
}, 120_000);

test("it is refused and unchanged while another node runs", async () => {
  await database.sql`insert into nodes (id) values ('node_of_before')`;
  const before = await schemaText(database.sql);
  await expect(migrate(database, ownSchema)).rejects.toThrow(/^Another node is running on this database.+Stop them/);
  expect(await schemaText(database.sql)).toBe(before);
  await database.sql`update nodes set heartbeat_at = now() - interval '16 seconds'`;
  expect((await migrate(database, ownSchema))[0]).toBe("0001-baseline.sql");
});

test("an older one is refused with the version that must upgrade it first", async () => {
  await database.sql`delete from schema_migrations where name = '0050-bare-media-types.sql'`;
  await expect(migrate(database, ownSchema)).rejects.toThrow(
    "Its last migration is 0049-keys-and-their-things.sql, and this version upgrades from 0050-bare-media-types.sql. " +
      "Start the previous version once, then this one again.",
  );
  expect(await database.sql`select to_regclass('schema_functions') as found`).toEqual([{ found: null }]);
});

interface Rows {
  columns: string[];
  rows: Record<string, unknown>[];
}

async function rowsOf({ sql }: Database): Promise<Map<string, Rows>> {
  const tables = await sql<{ name: string; columns: string[] }[]>`
    select c.relname::text as name, array_agg(a.attname::text) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    group by c.relname order by c.relname`;
  const all = new Map<string, Rows>();
  for (const { name, columns } of tables) {
    const rows = await sql<{ row: Record<string, unknown> }[]>`select to_jsonb(one) as row from ${sql(name)} one`;
    all.set(name, { columns, rows: rows.map(({ row }) => row) });
  }
  return all;
}

const chosen = (rows: Rows["rows"], columns: readonly string[]): string[] =>
  rows.map((row) => JSON.stringify(columns.map((column) => [column, row[column]]))).sort();
