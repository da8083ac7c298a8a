import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { Database } from "../../engines/database/database.ts";
import { createLog } from "../../kernel/log.ts";
import { writePast, writeUser } from "../billing/books.fixture.ts";
import { foldWallets } from "../billing/upkeep-store.ts";
import { verifyLedger } from "../billing/verify-ledger.ts";
import type { DeletionDeps } from "./account.ts";
import { claimAccount, releaseClaim } from "./deletion-store.ts";
import { workOnAccount } from "./work-on-account.ts";

let db: Awaited<ReturnType<typeof testDatabase>>;
let database: Database;
let ann: string;

beforeAll(async () => {
  db = await testDatabase();
  ({ database } = db);
  ann = await writeUser(database, "ann");
  const { sql } = database;
  await sql`insert into account_deletions (user_id, requested_at) values (${ann}, now() - interval '1 hour')`;
});
afterAll(() => db.drop());

/** One look of a node. Returns when the next one is due. */
async function look(): Promise<number | null> {
  const none = async () => 0;
  const deps: DeletionDeps = {
    database,
    log: createLog("silent"),
    batches: { cancel: async () => Promise.reject(new Error("none")) },
    drives: { deleteSomeOf: none },
    files: { deleteSomeOf: none },
    predictions: { cancel: async () => Promise.reject(new Error("none")) },
    runs: { cancelSomeOf: async () => {} },
  };
  const account = await claimAccount(database.sql, 30_000);
  if (!account) throw new Error("no account is due");
  const dueInMs = await workOnAccount(deps, account, new AbortController().signal);
  await releaseClaim(database.sql, account, 0);
  return dueInMs;
}

const models = () => database.sql`select retired_at is not null as retired from models where owner_id = ${ann}`;
const reserve = (micros: number) =>
  database.sql`update wallets set reserved_micros = ${micros}::bigint where user_id = ${ann}`;

test("models are retired once they have no work, and deleted once nothing was accepted meanwhile", async () => {
  const hourAgo = Date.now() - 3_600_000;
  const days = [hourAgo - 86_400_000, hourAgo].map((time) => new Date(time).toISOString());
  await writePast(database, [{ userId: ann, at: days[0] ?? "", price: 3 }]);
  await foldWallets(database.sql);
  await writePast(database, [{ userId: ann, at: days[1] ?? "", price: 4 }]);
  await database.sql`
    insert into models (owner_id, owner, name, manifest)
    values (${ann}, 'ann', 'model', '{"kind":"text","visibility":"public","capacity":1,"title":"A"}')`;
  await reserve(5);
  expect(await look()).toBe(1_000);
  expect(await models()).toEqual([{ retired: false }]);
  await reserve(0);
  expect(await look()).toBe(1_000);
  expect(await models()).toEqual([{ retired: true }]);
  await reserve(5);
  expect(await look()).toBe(1_000);
  expect(await models()).toHaveLength(1);
  await reserve(0);
  expect(await look()).toBe(86_400_000);
  expect(await models()).toEqual([]);
  // Rows and sums have the same neutral name, whether they were in the sums or not.
  const named = await database.sql`
    select model_name from usage union select model_name from usage_hours union select model_name from usage_days`;
  expect(named).toEqual([{ model_name: expect.stringMatching(/^deleted_\w{16}\/\w{16}$/) }]);
  expect(await verifyLedger(database)).toEqual([]);
});
