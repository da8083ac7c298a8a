import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { testDatabase, testTemplate } from "../../../test/support/database.ts";
import type { Database, Transaction } from "../../engines/database/database.ts";
import { adoptCharges, writePast, writeUser } from "./books.fixture.ts";
import { grantOpeningBalance } from "./credits.ts";
import { dropUsageBefore, ensureUsagePartitions } from "./usage-partitions.ts";
import { closeUsageDays } from "./usage-upkeep.ts";
import { verifyLedger } from "./verify-ledger.ts";

let template: Awaited<ReturnType<typeof testTemplate>>;
let db: Awaited<ReturnType<typeof testDatabase>>;
let database: Database;
let ann: string;
const keyId = "key_ann";

/** Everything that the rules compare: charges with and without a ledger entry, closed days, running and waiting predictions, a limited key. */
async function writeBooks(database: Database): Promise<void> {
  const { sql } = database;
  ann = await writeUser(database, "ann");
  await grantOpeningBalance(database, ann, 100_000_000);
  await sql`
    insert into api_keys (id, user_id, public, secret_hash, name, monthly_limit_micros, created_at)
    values (${keyId}, ${ann}, '0123456789ab', decode(repeat('00', 32), 'hex'), '', 5000000, now())`;
  await sql`
    insert into models (id, owner_id, name, manifest)
    values ('mdl_a', ${ann}, 'model', '{"kind":"other","visibility":"public","capacity":1}')`;
  await writePast(database, [
    { userId: ann, at: "2026-01-05T10:15:00Z", price: 30_000, id: "pred_old" },
    { userId: ann, at: "2026-01-05T11:15:00Z", price: 0, id: "pred_free" },
  ]);
  await adoptCharges(database, "2026-02-01T00:00:00Z");
  await writePast(database, [{ userId: ann, at: new Date().toISOString(), price: 70_000, id: "pred_new", keyId }]);
  await sql`
    insert into ended_predictions (id, user_id, key_id, model_id, model_name, route, status, created_at, price_micros)
    values ('pred_new', ${ann}, ${keyId}, 'mdl_a', 'ann/model', 'sync', 200, now(), 70000)`;
  await sql`
    insert into live_predictions (id, user_id, key_id, model_id, model_name, route, reserved_micros, key_month,
      counts_parallel, started_at, queue_until)
    values ('pred_live', ${ann}, ${keyId}, 'mdl_a', 'ann/model', 'sync', 500, '2026-03-01', true, now(), now()),
      ('pred_wait', ${ann}, ${keyId}, 'mdl_a', 'ann/model', 'async', 300, '2026-03-01', false, null, now())`;
  await sql`update wallets set reserved_micros = 800, running = 1, waiting = 1 where user_id = ${ann}`;
  await sql`insert into model_slots values ('mdl_a', 1, 1)`;
  await sql`insert into key_months values (${keyId}, '2026-03-01', 70000, 800)`;
  await closeUsageDays(database);
  await writePast(database, [{ userId: ann, at: new Date().toISOString(), id: "pred_newest" }]);
  expect(await verifyLedger(database)).toEqual([]);
}

beforeAll(async () => {
  template = await testTemplate(writeBooks);
});
afterAll(() => template.drop());

beforeEach(async () => {
  db = await testDatabase(template.name);
  database = db.database;
});
afterEach(() => db.drop());

/** Makes changes that triggers would refuse, as a damaged disk or a manual edit would. */
async function plant(work: (tx: Transaction) => Promise<unknown>): Promise<void> {
  await database.transaction(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await work(tx);
  });
}

describe("planted errors are found, with their figures", () => {
  it("a balance that differs from the ledger", async () => {
    await plant((tx) => tx`update wallets set balance_micros = balance_micros + 5 where user_id = ${ann}`);
    expect(await verifyLedger(database)).toEqual([
      { rule: "sum_of_accounts", subject: "all", expected: 0, found: 5 },
      { rule: "wallet_balance", subject: ann, expected: 99_900_000, found: 99_900_005 },
    ]);
  });

  it("a lost entry", async () => {
    await plant((tx) => tx`delete from ledger where reference = 'pred_old'`);
    expect(await verifyLedger(database)).toEqual([
      { rule: "sum_of_accounts", subject: "all", expected: 0, found: -30_000 },
      { rule: "wallet_balance", subject: ann, expected: 99_930_000, found: 99_900_000 },
      { rule: "usage_without_charge", subject: "pred_old", expected: 30_000, found: null },
      { rule: "day_charged", subject: `${ann} 2026-01-05T00:00:00+00:00`, expected: 30_000, found: 0 },
    ]);
  });

  it("money on an unknown account", async () => {
    await database.sql`
      insert into ledger (kind, from_account, to_account, amount_micros, reason)
      values ('credit', 'outside', 'user:usr_nobody', 9, 'typo')`;
    expect(await verifyLedger(database)).toEqual([
      { rule: "sum_of_accounts", subject: "all", expected: 0, found: -9 },
      { rule: "unknown_account", subject: "user:usr_nobody", expected: 0, found: 9 },
    ]);
  });

  it.each([
    ["a charge that did not go to the platform", "charge", "to_account", "outside"],
    ["a charge of the platform's own", "charge", "from_account", "outside"],
    ["a credit that does not come from outside", "credit", "from_account", "platform"],
    ["a charge made a sale", "charge", "kind", "sale"],
    ["a credit made a correction", "credit", "kind", "correction"],
  ])("%s", async (_name, kind, column, value) => {
    await plant((tx) => tx`update ledger set ${tx(column)} = ${value}, reason = 'x' where kind = ${kind}`);
    const { sql } = database;
    const [entry] = await sql<{ subject: string; amount: number }[]>`
      select concat_ws(' ', id, kind, from_account, to_account) as subject, amount_micros as amount
      from ledger where ${sql(column)} = ${value} order by kind = ${kind} desc limit 1`;
    expect(await verifyLedger(database)).toContainEqual({
      rule: "entry_between_others",
      subject: entry?.subject,
      expected: null,
      found: entry?.amount,
    });
  });

  it("a sale to an unknown wallet", async () => {
    await database.sql`
      insert into ledger (kind, from_account, to_account, amount_micros, reference)
      values ('sale', ${`user:${ann}`}, 'platform', 7, 'run_1')`;
    const rules = (await verifyLedger(database)).map(({ rule }) => rule);
    expect(rules).toContain("entry_between_others");
  });

  it.each([
    ["lost", "marks_lost", { expected: 1, found: 0 }],
    ["of a horizon to come", "horizon_in_the_future", { expected: 0, found: 1 }],
    ["of a horizon within an hour", "horizon_within_an_hour", { expected: 0, found: 1 }],
    ["of half a day", "days_closed_within_a_day", { expected: 0, found: 1 }],
  ])("marks %s, and what they would hide", async (_name, rule, figures) => {
    const { sql } = database;
    if (rule === "marks_lost") await sql`delete from usage_marks`;
    if (rule === "horizon_in_the_future")
      await sql`update usage_marks set horizon = date_trunc('month', now() + interval '2 months', 'UTC')`;
    if (rule === "horizon_within_an_hour") await sql`update usage_marks set horizon = '2026-01-01T12:30:00Z'`;
    if (rule === "days_closed_within_a_day") await sql`update usage_marks set days_before = '2026-02-01T12:00:00Z'`;
    expect(await verifyLedger(database)).toContainEqual({ rule, subject: "usage_marks", ...figures });
    await sql`delete from usage where request_id = 'pred_new'`;
    await sql`update usage_hours set requests = requests + 1`;
    const rules = (await verifyLedger(database)).map((found) => found.rule);
    expect(rules).toEqual(expect.arrayContaining(["wallet_balance", "hour_requests"]));
  });

  it("rows that were dropped before their charges were posted", async () => {
    await database.sql`update usage_marks set horizon = '2026-03-01T00:00:00Z'`;
    expect(await verifyLedger(database)).toEqual([
      { rule: "horizon_after_charges", subject: "usage_marks", expected: 0, found: 1 },
    ]);
  });

  it("a user without a wallet", async () => {
    await plant(
      (tx) => tx`
        insert into users (id, username, role, plan, created_at) values ('usr_x', 'xeno', 'user', 'free', now())`,
    );
    expect(await verifyLedger(database)).toEqual([{ rule: "missing_wallet", subject: "usr_x", expected: 1, found: 0 }]);
  });

  it("reservations and counters without a live prediction", async () => {
    await database.sql`update wallets set reserved_micros = 801, running = 3, waiting = 5, unfolded = 7 where user_id = ${ann}`;
    await database.sql`update model_slots set running = 0, waiting = 7`;
    await database.sql`update key_months set reserved_micros = 1`;
    expect(await verifyLedger(database)).toEqual([
      { rule: "wallet_reserved", subject: ann, expected: 800, found: 801 },
      { rule: "wallet_running", subject: ann, expected: 1, found: 3 },
      { rule: "wallet_unfolded", subject: ann, expected: 1, found: 7 },
      { rule: "wallet_waiting", subject: ann, expected: 1, found: 5 },
      { rule: "model_running", subject: "mdl_a", expected: 1, found: 0 },
      { rule: "model_waiting", subject: "mdl_a", expected: 1, found: 7 },
      { rule: "key_reserved", subject: `${keyId} 2026-03-01`, expected: 800, found: 1 },
    ]);
  });

  it("a live prediction that no counter includes", async () => {
    await database.sql`
      insert into live_predictions (id, user_id, key_id, model_id, model_name, route, reserved_micros, counts_parallel,
        queue_until)
      values ('pred_lost', 'usr_gone', 'key_gone', 'mdl_gone', 'gone/model', 'sync', 40, true, now())`;
    expect(await verifyLedger(database)).toEqual([
      { rule: "wallet_reserved", subject: "usr_gone", expected: 40, found: 0 },
      { rule: "wallet_running", subject: "usr_gone", expected: 1, found: 0 },
      { rule: "wallet_waiting", subject: "usr_gone", expected: 1, found: 0 },
      { rule: "model_waiting", subject: "mdl_gone", expected: 1, found: 0 },
    ]);
  });

  it.each([
    ["a charge without its usage", "delete", "charge_without_usage", { expected: null, found: 30_000 }],
    ["another price", "price", "charge_amount", { expected: 30_001, found: 30_000 }],
    ["another user", "user", "charge_of_another_wallet", { expected: 30_000, found: 30_000 }],
    ["another time", "time", "charge_at_another_time", { expected: 30_000, found: 30_000 }],
  ])("%s", async (_name, change, rule, figures) => {
    const { sql } = database;
    if (change === "delete") await sql`delete from usage where request_id = 'pred_old'`;
    if (change === "price") await sql`update usage set price_micros = 30001 where request_id = 'pred_old'`;
    if (change === "user") await sql`update usage set user_id = 'usr_other' where request_id = 'pred_old'`;
    if (change === "time")
      await sql`update usage set created_at = created_at - interval '1 us' where request_id = 'pred_old'`;
    const found = await verifyLedger(database);
    expect(found).toContainEqual({ rule, subject: "pred_old", ...figures });
  });

  it.each([
    ["lost", "delete", 99_970_000],
    ["at another price", "price", 99_899_999],
    ["of another user", "user", 99_970_000],
  ])("usage %s that the balance was charged for", async (_name, change, expected) => {
    const { sql } = database;
    if (change === "delete") await sql`delete from usage where request_id = 'pred_new'`;
    if (change === "price") await sql`update usage set price_micros = 70001 where request_id = 'pred_new'`;
    if (change === "user") await sql`update usage set user_id = 'usr_other' where request_id = 'pred_new'`;
    expect(await verifyLedger(database)).toContainEqual({
      rule: "wallet_balance",
      subject: ann,
      expected,
      found: 99_900_000,
    });
  });

  it("a prediction with two usage rows", async () => {
    await database.sql`insert into usage select * from usage where request_id = 'pred_free'`;
    await database.sql`update usage_hours set requests = 2 where hour = '2026-01-05T11:00:00Z'`;
    await database.sql`update usage_days set requests = 3 where day = '2026-01-05T00:00:00Z'`;
    expect(await verifyLedger(database)).toEqual([
      { rule: "usage_twice", subject: "pred_free", expected: 1, found: 2 },
    ]);
  });

  it("sums by hour that differ from the rows, are missing or superfluous", async () => {
    const hour = "2026-01-05T11:00:00+00:00";
    await database.sql`delete from usage_hours where hour = ${hour}::text::timestamptz`;
    await database.sql`update usage_days set requests = 1`;
    expect(await verifyLedger(database)).toEqual([
      { rule: "hour_requests", subject: `${ann} ${hour} ann/model`, expected: 1, found: 0 },
    ]);
    await database.sql`
      insert into usage_hours values (${ann}, ${hour}::text::timestamptz, 'ann/model', 1, 1, 5)`;
    await database.sql`update usage_days set requests = 2, paid_requests = 2, spent_micros = 30005`;
    await database.sql`update usage_marks set charged_micros = 30005`;
    expect(await verifyLedger(database)).toEqual([
      { rule: "day_charged", subject: `${ann} 2026-01-05T00:00:00+00:00`, expected: 30_005, found: 30_000 },
      { rule: "hour_paid_requests", subject: `${ann} ${hour} ann/model`, expected: 0, found: 1 },
      { rule: "hour_spent", subject: `${ann} ${hour} ann/model`, expected: 0, found: 5 },
    ]);
  });

  it("sums by day that differ from the hours", async () => {
    const day = "2026-01-05T00:00:00+00:00";
    await database.sql`update usage_days set requests = 9, paid_requests = 0, spent_micros = 1`;
    expect(await verifyLedger(database)).toEqual([
      { rule: "day_paid_requests", subject: `${ann} ${day} ann/model`, expected: 1, found: 0 },
      { rule: "day_requests", subject: `${ann} ${day} ann/model`, expected: 2, found: 9 },
      { rule: "day_spent", subject: `${ann} ${day} ann/model`, expected: 30_000, found: 1 },
      { rule: "days_charged", subject: "all", expected: 1, found: 30_000 },
    ]);
  });

  it("a day that is not closed, or closed too early", async () => {
    await database.sql`delete from usage_days`;
    await database.sql`
      insert into usage_days values (${ann}, date_trunc('day', now() + interval '1 day', 'UTC'), 'ann/model', 1, 0, 0)`;
    const rules = (await verifyLedger(database)).map(({ rule, expected, found }) => [rule, expected, found]);
    expect(rules).toContainEqual(["day_requests", 2, 0]);
    expect(rules).toContainEqual(["day_requests", 0, 1]);
  });

  it("a key that spent less than its usage, or more than its user was charged", async () => {
    await database.sql`update key_months set spent_micros = 69999`;
    expect(await verifyLedger(database)).toEqual([
      { rule: "key_spent_too_little", subject: keyId, expected: 70_000, found: 69_999 },
    ]);
    await database.sql`update key_months set spent_micros = 100001`;
    expect(await verifyLedger(database)).toEqual([
      { rule: "key_spent_too_much", subject: keyId, expected: 100_000, found: 100_001 },
    ]);
  });

  it("a charge above its reservation, if that is known", async () => {
    await database.sql`update usage set reserved_micros = 70000 where request_id = 'pred_new'`;
    expect(await verifyLedger(database)).toEqual([]);
    await database.sql`update usage set reserved_micros = 69999 where request_id = 'pred_new'`;
    expect(await verifyLedger(database)).toEqual([
      { rule: "charge_above_reservation", subject: "pred_new", expected: 69_999, found: 70_000 },
    ]);
  });

  it("a month in which a key spent and reserved more than its limit", async () => {
    await database.sql`update api_keys set monthly_limit_micros = 70800 where id = ${keyId}`;
    expect(await verifyLedger(database)).toEqual([]);
    await database.sql`update api_keys set monthly_limit_micros = 70799 where id = ${keyId}`;
    expect(await verifyLedger(database)).toEqual([
      { rule: "key_month_above_limit", subject: `${keyId} 2026-03-01`, expected: 70_799, found: 70_800 },
    ]);
  });

  it("a day in which a key, or a key and its children, spent what usage does not show", async () => {
    const { sql } = database;
    await sql`update api_keys set daily_limit_micros = 80000 where id = ${keyId}`;
    await sql`insert into key_days values (${keyId}, (now() at time zone 'UTC')::date, 70000, 0)`;
    expect(await verifyLedger(database)).toEqual([]);
    await sql`
      insert into api_keys (id, user_id, parent_id, public, secret_hash, name, created_at)
      select 'key_child', user_id, id, 'cccccccccccc', secret_hash, '', now() from api_keys where id = ${keyId}`;
    await sql`update usage set key_id = 'key_child' where request_id = 'pred_new'`;
    expect(await verifyLedger(database)).toEqual([]);
    await sql`update key_days set spent_micros = 69999, reserved_micros = 10002`;
    const day = new Date().toISOString().slice(0, 10);
    expect(await verifyLedger(database)).toEqual([
      { rule: "key_reserved_today", subject: `${keyId} ${day}`, expected: 0, found: 10_002 },
      { rule: "key_spent_too_little", subject: keyId, expected: 70_000, found: 69_999 },
      { rule: "key_day_above_limit", subject: `${keyId} ${day}`, expected: 80_000, found: 80_001 },
    ]);
    // The limits were different when the day began.
    await sql`update key_days set reserved_micros = 0, spent_micros = 90000`;
    await sql`update api_keys set limits_changed_at = now() where id = ${keyId}`;
    expect(await verifyLedger(database)).toEqual([]);
  });

  it("a charge for a model that was always private to another user", async () => {
    const bob = await writeUser(database, "bob");
    const setModel = (visibility: string, age: string) => database.sql`
      update models set owner_id = ${bob}, updated_at = now() - ${age}::text::interval,
        manifest = jsonb_set(manifest::jsonb, '{visibility}', to_jsonb(${visibility}::text))`;
    await setModel("public", "2 minutes");
    expect(await verifyLedger(database)).toEqual([]);
    // The model may have been public when it was called.
    await setModel("private", "0 minutes");
    expect(await verifyLedger(database)).toEqual([]);
    await setModel("private", "2 minutes");
    expect(await verifyLedger(database)).toEqual([
      { rule: "charge_for_private_model", subject: "pred_new", expected: 0, found: 70_000 },
    ]);
  });

  describe("a sale that leaves its buyer below zero", () => {
    let buyer: string;
    beforeEach(async () => {
      buyer = await writeUser(database, "buyer");
    });

    /** A run that is created and sold now, with the writes of `meanwhile` in between. */
    async function sell(price: number, meanwhile: () => Promise<unknown> = async () => {}): Promise<void> {
      await plant(
        (tx) => tx`
          insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, ancestors, input, timeout_ms, max_steps,
            base_url, status, completed_at, price_micros, sale_name)
          values ('run_1', 'agt_1', 'rev_1', ${ann}, ${buyer}, 'key_b', '{}', '{}', 1, 1, '', 'done', now(), ${price},
            'agents/ann/golden')`,
      );
      await meanwhile();
      await database.sql`
        select sell_run(${buyer}, ${ann}, 'key_b', 'run_1', 'agents/ann/golden', ${price}::bigint, 'agents')`;
    }

    async function charge(price: number): Promise<void> {
      const [now] = await database.sql<[{ at: string }]>`select clock_timestamp()::text as at`;
      await writePast(database, [{ userId: buyer, at: now.at, price }]);
    }

    it("is found if the balance did not cover it when the run was created", async () => {
      await grantOpeningBalance(database, buyer, 50);
      await sell(1_000_000);
      expect(await verifyLedger(database)).toEqual([
        { rule: "sale_not_covered", subject: "run_1", expected: 1_000_000, found: 50 },
      ]);
    });

    it("is found if credit came after the run was created and was spent before it ended", async () => {
      await sell(100, async () => {
        await grantOpeningBalance(database, buyer, 150);
        await charge(140);
      });
      expect(await verifyLedger(database)).toEqual([
        { rule: "sale_not_covered", subject: "run_1", expected: 100, found: 0 },
      ]);
    });

    it("is accepted if predictions spent the balance after the run was created", async () => {
      await grantOpeningBalance(database, buyer, 100);
      await sell(100, () => charge(140));
      expect(await verifyLedger(database)).toEqual([]);
    });
  });

  it("limits the list of one kind", async () => {
    await plant(
      (tx) => tx`
        insert into users (id, username, role, plan, created_at)
        select 'usr_' || n, 'name-' || n, 'user', 'free', now() from generate_series(1, 60) n`,
    );
    const found = await verifyLedger(database);
    expect(found).toHaveLength(51);
    expect(found.at(-1)).toEqual({ rule: "accounts", subject: "and 10 more", expected: 0, found: 10 });
  });
});

it("dropped rows are not reported, and their sums are still checked", async () => {
  await ensureUsagePartitions(database, new Date("2026-01-01"));
  expect(await dropUsageBefore(database, new Date("2026-02-15"))).toEqual(["usage_2026_01"]);
  expect(await verifyLedger(database)).toEqual([]);
  await database.sql`update usage_hours set requests = requests + 1 where hour < '2026-02-01'`;
  expect((await verifyLedger(database)).map(({ rule }) => rule)).toEqual(["day_requests"]);
});

it("charges of dropped rows are in the ledger, and reported if they are lost", async () => {
  const bob = await writeUser(database, "bob");
  await writePast(database, [
    { userId: bob, at: "2026-03-05T10:00:00Z", price: 5 },
    { userId: bob, at: "2026-03-05T11:00:00Z", price: 6 },
    { userId: bob, at: "2026-03-06T12:00:00Z", price: 7 },
  ]);
  await dropUsageBefore(database, new Date("2026-04-10"));
  expect(await verifyLedger(database)).toEqual([]);
  await plant((tx) => tx`delete from ledger where reason = 'Predictions of 2026-03-05'`);
  expect(await verifyLedger(database)).toEqual([
    { rule: "sum_of_accounts", subject: "all", expected: 0, found: -11 },
    { rule: "wallet_balance", subject: bob, expected: -7, found: -18 },
    { rule: "day_charged", subject: `${bob} 2026-03-05T00:00:00+00:00`, expected: 11, found: 0 },
  ]);
});

it("checks one snapshot while money moves", async () => {
  let moving = true;
  const mover = (async () => {
    while (moving) await writePast(database, [{ userId: ann, at: new Date().toISOString(), price: 11 }]);
  })();
  for (let i = 0; i < 10; i++) expect(await verifyLedger(database)).toEqual([]);
  moving = false;
  await mover;
});
