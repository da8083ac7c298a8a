import { afterEach, beforeEach, expect, it } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { connect, type Database } from "../../engines/database/index.ts";
import { everythingOf } from "../accounts/index.ts";
import { writePast, writeUser } from "./books.fixture.ts";
import { readExpenses } from "./expenses.ts";
import { selectOverview } from "./overview-store.ts";
import { momentOfMicros } from "./time.rules.ts";
import { foldWallets, insertDays, lockSums, lockUpkeep } from "./upkeep-store.ts";
import { listUsage } from "./usage.ts";
import { verifyLedger } from "./verify-ledger.ts";

let db: Awaited<ReturnType<typeof testDatabase>>;
let database: Database;
const always = { from: undefined, to: undefined };
const dayMs = 86_400_000;
const midnight = Math.floor(Date.now() / dayMs) * dayMs;

beforeEach(async () => {
  db = await testDatabase();
  ({ database } = db);
});
afterEach(async () => {
  expect(await verifyLedger(database)).toEqual([]);
  await db.drop();
});

const unfoldedOf = async (userId: string): Promise<number | undefined> => {
  const [wallet] = await database.sql<{ unfolded: number }[]>`select unfolded from wallets where user_id = ${userId}`;
  return wallet?.unfolded;
};
const spentBy = async (userId: string): Promise<number> => {
  const start = "1970-01-01T00:00:00.000000Z";
  return (await readExpenses(database, everythingOf(userId), { start, end: undefined, page: 1 })).totalSpent;
};

it("rows of one hour add up over several folds", async () => {
  const ann = await writeUser(database, "ann");
  for (const [minute, price] of [
    [1, 5],
    [2, 7],
  ] as const) {
    await writePast(database, [{ userId: ann, at: new Date(midnight - dayMs + minute * 60_000).toISOString(), price }]);
    await foldWallets(database.sql);
  }
  const hours = await database.sql`select requests, paid_requests as paid, spent_micros as spent from usage_hours`;
  expect(hours).toEqual([{ requests: 2, paid: 2, spent: 12 }]);
});

it("rows are in the sums once, while users settle, nodes fold and days are closed", async () => {
  const users = await Promise.all(["ann", "bob", "carl"].map((name) => writeUser(database, name)));
  const nodes = Array.from({ length: 2 }, () => connect({ url: db.url, poolSize: 2 }));
  const rows = 120;
  let writing = users.length;
  const settling = users.map(async (userId) => {
    for (let n = 0; n < rows; n++) {
      // Ten days pass: rows come before, while and after their day is closed.
      const at = momentOfMicros((midnight - 10 * dayMs) * 1000 + Math.floor((n * 10 * dayMs) / rows) * 1000 + n);
      await writePast(database, [{ userId, at, price: 1 }]);
      const [{ total }, spent] = [
        await listUsage(database, everythingOf(userId), always, { limit: 1, offset: 0 }),
        await spentBy(userId),
      ];
      expect([total, spent]).toEqual([n + 1, n + 1]);
    }
    writing--;
  });
  const folding = nodes.map(async ({ sql }) => {
    while (writing > 0) await foldWallets(sql);
  });
  const closing = (async () => {
    for (let day = 10; day > 0; day--) {
      await database.transaction(async (tx) => {
        await lockUpkeep(tx);
        await lockSums(tx);
        await insertDays(tx, new Date(midnight - day * dayMs), new Date(midnight - (day - 1) * dayMs));
      });
      expect((await selectOverview(database.sql)).books.sum).toBe(0);
    }
  })();
  await Promise.all([...settling, ...folding, closing]);
  await Promise.all(nodes.map((node) => node.close()));
  await foldWallets(database.sql);
  const [summed] = await database.sql`
    select (select sum(requests)::int from usage_hours) as hours, (select sum(requests)::int from usage_days) as days,
      (select charged_micros from usage_marks) as charged`;
  expect(summed).toEqual({ hours: 360, days: 360, charged: 360 });
});

it("the thousandth row folds the wallet", async () => {
  const [buyer, seller] = [await writeUser(database, "buyer"), await writeUser(database, "seller")];
  const at = new Date(Date.now() - 60_000).toISOString();
  await writePast(
    database,
    Array.from({ length: 998 }, () => ({ userId: buyer, at, price: 1 })),
  );
  const sell = (runId: string) =>
    database.sql`select sell_run(${buyer}, ${seller}, 'key_b', ${runId}, 'agents/seller/helper', 5, null)`;
  await sell("run_1");
  expect([await unfoldedOf(buyer), await spentBy(buyer)]).toEqual([999, 1003]);
  await sell("run_2");
  expect([await unfoldedOf(buyer), await spentBy(buyer)]).toEqual([0, 1008]);
});

it("a fold does not wait for days that are being closed", async () => {
  const ann = await writeUser(database, "ann");
  await writePast(database, [{ userId: ann, at: new Date().toISOString(), price: 1 }]);
  await database.transaction(async (tx) => {
    await lockSums(tx);
    await foldWallets(database.sql);
    expect(await unfoldedOf(ann)).toBe(1);
  });
  await foldWallets(database.sql);
  expect(await unfoldedOf(ann)).toBe(0);
});

it.each([
  ["errors = errors + 1", "hour_errors"],
  ["input_tokens = input_tokens + 5", "hour_tokens"],
  ["latencies = latencies || array[3]", "hour_latencies"],
])("the check finds figures of an hour that differ from its rows: %s", async (change, rule) => {
  const ann = await writeUser(database, "ann");
  const at = new Date(midnight - dayMs).toISOString();
  await writePast(database, [
    { userId: ann, at, status: 502 },
    { userId: ann, at, inferenceMs: 1200, tokens: [10, 20, 5] },
  ]);
  await foldWallets(database.sql);
  expect(await verifyLedger(database)).toEqual([]);
  await database.sql.unsafe(`update usage_hours set ${change}`);
  expect((await verifyLedger(database)).map((one) => one.rule)).toEqual([rule]);
  // Unknown figures are not wrong.
  await database.sql`update usage_hours set errors = null, input_tokens = null, latencies = null`;
});

it("a fold adds to the figures of an hour, and leaves unknown ones unknown", async () => {
  const ann = await writeUser(database, "ann");
  const at = (minute: number) => new Date(midnight - dayMs + minute * 60_000).toISOString();
  const figures = () =>
    database.sql`select errors, input_tokens as input, output_tokens as output, cached_tokens as cached, latencies from usage_hours`;
  await writePast(database, [
    { userId: ann, at: at(1), inferenceMs: 3, tokens: [10, 20, 5] },
    { userId: ann, at: at(2), status: 499, inferenceMs: 3 },
  ]);
  await foldWallets(database.sql);
  expect(await figures()).toEqual([{ errors: 0, input: 10, output: 20, cached: 5, latencies: [1] }]);
  await writePast(database, [
    { userId: ann, at: at(3), inferenceMs: 8, tokens: [1, 2, 0] },
    { userId: ann, at: at(4), status: 502 },
  ]);
  await foldWallets(database.sql);
  expect(await figures()).toEqual([{ errors: 1, input: 11, output: 22, cached: 5, latencies: [1, 0, 0, 1] }]);
  await database.sql`update usage_hours set errors = null, latencies = null`;
  await writePast(database, [{ userId: ann, at: at(5), inferenceMs: 8 }]);
  await foldWallets(database.sql);
  expect(await figures()).toEqual([{ errors: null, input: 11, output: 22, cached: 5, latencies: null }]);
});
