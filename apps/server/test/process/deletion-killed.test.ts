import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { call } from "../proof/client.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { testDatabase } from "../support/database.ts";
import { waitFor } from "../support/wait-for.ts";

let own: Awaited<ReturnType<typeof testDatabase>>;
let cluster: Cluster;
let home: string;
const rows = 20_000;

beforeAll(async () => {
  own = await testDatabase();
  home = await mkdtemp(join(tmpdir(), "gantry-deletion-"));
  cluster = await startCluster({ databaseUrl: own.url, env: { GANTRY_HOME: home }, nodes: { one: {} } });
}, 120_000);
afterAll(async () => {
  await cluster?.close();
  await own?.drop();
  await rm(home, { recursive: true, force: true });
}, 60_000);

test("a deletion that is killed continues after the start, and moves the balance once", async () => {
  const { sql } = own.database;
  const node = cluster.node("one");
  const ask = (method: string, path: string, json?: unknown) => call(node.url, method, path, { json });
  expect((await ask("POST", "/api/v2/admin/users", { username: "olga" })).status).toBe(201);
  expect((await ask("POST", "/api/v2/admin/users/olga/credits", { amount: 5, reason: "start" })).status).toBe(201);
  const [user] = await sql<{ id: string }[]>`select id from users where username = 'olga'`;
  const id = String(user?.id);
  await sql`
    insert into idempotency_keys (user_id, scope, key, fingerprint, prediction_id)
    select ${id}, 'a/b', case n when ${rows} then 'last' else n::text end, 'f', 'pred_1'
    from generate_series(1, ${rows}) n`;
  const left = async () =>
    (await sql<{ n: number }[]>`select count(*)::int as n from idempotency_keys where user_id = ${id}`)[0]?.n ?? 0;

  // The deletion waits for the last row, so that it cannot end before the kill.
  const killed = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = own.database.transaction(async (tx) => {
    await tx`select 1 from idempotency_keys where user_id = ${id} and key = 'last' for update`;
    locked.resolve();
    await killed.promise;
  });
  await Promise.race([locked.promise, holding]);
  try {
    expect((await ask("DELETE", "/api/v2/admin/users/olga")).status).toBe(202);
    await waitFor("the middle of the deletion", async () => (await left()) < rows);
    await node.kill();
    expect(await left()).toBeGreaterThan(0);
  } finally {
    killed.resolve();
    await holding;
  }
  const [claimed] = await sql`select finished_at, leased_until from account_deletions where user_id = ${id}`;
  expect(claimed).toEqual({ finished_at: null, leased_until: expect.any(Date) });

  await node.start();
  const isFinished = async () =>
    (await sql`select 1 from account_deletions where user_id = ${id} and finished_at is not null`).length > 0;
  await waitFor("the deletion", isFinished, 90_000);
  expect(await left()).toBe(0);
  const entries = await sql`select kind, amount_micros as amount from ledger where reason = 'Account deleted'`;
  expect(entries).toEqual([{ kind: "correction", amount: 5_000_000 }]);
  expect((await ask("POST", "/api/v2/admin/users", { username: "olga" })).status).toBe(409);
  expect(await verifyLedger(own.database)).toEqual([]);
}, 180_000);
