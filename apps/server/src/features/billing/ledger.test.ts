import { afterAll, beforeAll, expect, it } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { Database } from "../../engines/database/database.ts";
import { writeUser } from "./books.fixture.ts";
import { grantOpeningBalance } from "./credits.ts";
import { selectWallets } from "./open-billing.ts";
import { verifyLedger } from "./verify-ledger.ts";

let db: Awaited<ReturnType<typeof testDatabase>>;
let database: Database;
let ann: string;

beforeAll(async () => {
  db = await testDatabase();
  database = db.database;
  ann = await writeUser(database, "ann");
  await grantOpeningBalance(database, ann, 10_000_000);
});

afterAll(async () => {
  expect(await verifyLedger(database)).toEqual([]);
  await db.drop();
});

const balance = async (): Promise<number | undefined> => (await selectWallets(database.sql, [ann])).get(ann)?.balance;

it("an entry cannot be changed, deleted or truncated", async () => {
  const { sql } = database;
  const refusal = /ledger is append-only/;
  await expect(sql`update ledger set amount_micros = 1`).rejects.toThrow(refusal);
  await expect(sql`delete from ledger`).rejects.toThrow(refusal);
  await expect(sql`truncate ledger`).rejects.toThrow(refusal);
  expect(await balance()).toBe(10_000_000);
});

it("an entry moves both wallets, once for each reference", async () => {
  const bob = await writeUser(database, "bob");
  const move = () => database.sql`
    select id from move_money('sale', ${`user:${ann}`}, ${`user:${bob}`}, 40000, 'run_once', null)`;
  expect(await move()).toHaveLength(1);
  expect(await move()).toEqual([]);
  const wallets = await selectWallets(database.sql, [ann, bob]);
  expect([wallets.get(ann)?.balance, wallets.get(bob)?.balance]).toEqual([9_960_000, 40_000]);
  // A sale is a usage row too.
  await database.sql`
    insert into usage (request_id, user_id, model_name, route, status, created_at, price_micros)
    select reference, ${ann}, 'agents/bob/helper', 'agent', 200, recorded_at, amount_micros from ledger where kind = 'sale'`;
  await database.sql`update wallets set unfolded = 1 where user_id = ${ann}`;
});

it("the buyer of a run pays the seller, with a usage row at the same moment", async () => {
  const [buyer, seller] = [await writeUser(database, "buyer"), await writeUser(database, "seller")];
  await database.sql`select sell_run(${buyer}, ${seller}, 'key_b', 'run_sold', 'agents/seller/helper', 250, 'agents')`;
  const wallets = await selectWallets(database.sql, [buyer, seller]);
  expect([wallets.get(buyer)?.balance, wallets.get(seller)?.balance]).toEqual([-250, 250]);
  expect(
    await database.sql`
      select u.user_id, u.key_id, u.model_name, u.route, u.status, u.price_micros, u.reserved_micros, u.door
      from usage u join ledger l on l.reference = u.request_id and l.recorded_at = u.created_at
      where u.request_id = 'run_sold'`,
  ).toEqual([
    {
      user_id: buyer,
      key_id: "key_b",
      model_name: "agents/seller/helper",
      route: "agent",
      status: 200,
      price_micros: 250,
      reserved_micros: 250,
      door: "agents",
    },
  ]);
});

it.each([
  ["an amount of nothing", { amount: 0 }],
  ["an amount below nothing", { amount: -5 }],
  ["a movement from an account to itself", { to: "platform", from: "platform" }],
  ["a charge that is for nothing", { reference: null }],
  ["a credit without a reason", { kind: "credit" }],
  ["an unknown kind", { kind: "gift" }],
])("%s is refused", async (_name, wrong: object) => {
  const entry = { kind: "charge", from: `user:${ann}`, to: "platform", amount: 5, reference: "pred_x", ...wrong };
  await expect(database.sql`
    insert into ledger (kind, from_account, to_account, amount_micros, reference)
    values (${entry.kind}, ${entry.from}, ${entry.to}, ${entry.amount}, ${entry.reference})`).rejects.toMatchObject({
    code: "23514",
  });
});

it("an opening balance is granted once, even if many nodes start at once", async () => {
  const carl = await writeUser(database, "carl");
  const given = await Promise.all(Array.from({ length: 8 }, () => grantOpeningBalance(database, carl, 100_000_000)));
  expect(given.filter(Boolean)).toHaveLength(1);
  expect(await grantOpeningBalance(database, carl, 100_000_000)).toBe(false);
  expect((await selectWallets(database.sql, [carl])).get(carl)).toEqual({ balance: 100_000_000, reserved: 0 });
});
