import { afterAll, beforeAll, expect, it } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { Database } from "../../engines/database/database.ts";
import { writePast, writeUser } from "./books.fixture.ts";
import { grantOpeningBalance } from "./credit-user.ts";
import { selectWallets } from "./store.ts";
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

it("an entry is never changed, removed or emptied away", async () => {
  const { sql } = database;
  const refusal = /ledger is append-only/;
  await expect(sql`update ledger set amount_micros = 1`).rejects.toThrow(refusal);
  await expect(sql`delete from ledger`).rejects.toThrow(refusal);
  await expect(sql`truncate ledger`).rejects.toThrow(refusal);
  expect(await balance()).toBe(10_000_000);
});

it("a balance is never set by hand", async () => {
  const { sql } = database;
  const refusal = /a balance changes by a ledger row only/;
  await expect(sql`update wallets set balance_micros = 5 where user_id = ${ann}`).rejects.toThrow(refusal);
  await expect(sql`update wallets set balance_micros = balance_micros + 1, running = 0`).rejects.toThrow(refusal);
  expect(await balance()).toBe(10_000_000);
});

it("a prediction is charged once, whoever tries again", async () => {
  await writePast(database, [{ userId: ann, at: "2026-01-01T00:00:00Z", price: 40_000, id: "pred_once" }]);
  const again = { userId: ann, at: "2026-01-01T00:00:00Z", price: 40_000, id: "pred_once" };
  await expect(writePast(database, [again])).rejects.toMatchObject({ code: "23505" });
  expect(await balance()).toBe(9_960_000);
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

it("an opening balance is given once, also when many nodes start at the same moment", async () => {
  const bob = await writeUser(database, "bob");
  const given = await Promise.all(Array.from({ length: 8 }, () => grantOpeningBalance(database, bob, 100_000_000)));
  expect(given.filter(Boolean)).toHaveLength(1);
  expect(await grantOpeningBalance(database, bob, 100_000_000)).toBe(false);
  expect((await selectWallets(database.sql, [bob])).get(bob)).toEqual({ balance: 100_000_000, reserved: 0 });
});
