import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { connect } from "../../engines/database/index.ts";
import { createLog } from "../../kernel/log.ts";
import { everythingOf } from "../accounts/index.ts";
import { writePast, writeUser } from "./books.fixture.ts";
import { grantOpeningBalance } from "./credits.ts";
import { readExpenses } from "./expenses.ts";
import { selectOverview } from "./overview-store.ts";
import { monthOf } from "./time.rules.ts";
import { foldWallets, moveHorizon, postCharges, sealUsage, selectPartitions } from "./upkeep-store.ts";
import { listUsage } from "./usage.ts";
import { dropUsageBefore, ensureUsagePartitions } from "./usage-partitions.ts";
import { closeUsageDays, startUsageUpkeep } from "./usage-upkeep.ts";
import { verifyLedger } from "./verify-ledger.ts";

let db: Awaited<ReturnType<typeof testDatabase>>;
let ann: string;
const log = createLog("silent");
const all = { from: undefined, to: undefined };
const first = { limit: 20, offset: 0 };
const soundClock = { read: async () => ({ now: new Date(), isTrusted: true }) };
const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);

beforeEach(async () => {
  db = await testDatabase();
  ann = await writeUser(db.database, "ann");
});
afterEach(async () => {
  expect(await verifyLedger(db.database)).toEqual([]);
  await db.drop();
});

const countIn = async (table: string): Promise<number> => {
  const [row] = await db.database.sql.unsafe<[{ n: number }]>(`select count(*) as n from ${table}`);
  return row.n;
};

describe("charges in the ledger", () => {
  const midnight = (days: number): Date => new Date(new Date(daysAgo(days)).setUTCHours(0, 0, 0, 0));
  const posted = async () => {
    const [row] = await db.database.sql<[{ sum: number }]>`
      select coalesce(sum(amount_micros), 0)::int as sum from ledger where kind = 'charge'`;
    return row.sum;
  };

  it("are posted once, up to each later moment", async () => {
    await writePast(db.database, [
      { userId: ann, at: daysAgo(5).toISOString(), price: 5 },
      { userId: ann, at: daysAgo(3).toISOString(), price: 3 },
    ]);
    await foldWallets(db.database.sql);
    await sealUsage(db.database.sql, midnight(1));
    for (const [until, sum] of [
      [midnight(4), 5],
      [midnight(2), 8],
      [midnight(2), 8],
    ] as const) {
      await postCharges(db.database.sql, until);
      expect(await posted()).toBe(sum);
    }
    // Posting is for rows that go.
    await moveHorizon(db.database.sql, midnight(2));
    await db.database.sql`delete from usage`;
  });

  it("are not posted before their usage is folded", async () => {
    await writePast(db.database, [{ userId: ann, at: daysAgo(3).toISOString(), price: 3 }]);
    await expect(postCharges(db.database.sql, daysAgo(1))).rejects.toThrow("not folded");
    expect(await posted()).toBe(0);
  });
});

describe("partitions", () => {
  it("exist for this month and the next two, created once by any number of nodes", async () => {
    const others = Array.from({ length: 3 }, () => connect({ url: db.url, poolSize: 2 }));
    const made = await Promise.all([db.database, ...others].map((one) => ensureUsagePartitions(one)));
    const expected = [0, 1, 2].map((later) => monthOf(new Date(), later).table);
    expect(made.flat().toSorted()).toEqual(expected.toSorted());
    expect(await ensureUsagePartitions(db.database)).toEqual([]);
    expect(await selectPartitions(db.database.sql)).toEqual(["usage_default", ...expected].toSorted());
    await Promise.all(others.map((one) => one.close()));
  });

  it("receive existing and new rows of their month", async () => {
    const thisMonth = monthOf(new Date());
    const before = monthOf(new Date(), -1);
    const ids = await writePast(db.database, [
      { userId: ann, at: before.from.toISOString(), price: 5 },
      { userId: ann, at: thisMonth.from.toISOString(), price: 6 },
    ]);
    await ensureUsagePartitions(db.database);
    expect([await countIn("usage_default"), await countIn(thisMonth.table)]).toEqual([1, 1]);
    await writePast(db.database, [{ userId: ann, at: thisMonth.from.toISOString(), price: 7 }]);
    expect([await countIn("usage_default"), await countIn(thisMonth.table)]).toEqual([1, 2]);
    await ensureUsagePartitions(db.database, before.from);
    expect([await countIn("usage_default"), await countIn(before.table)]).toEqual([0, 1]);
    const { entries, total } = await listUsage(db.database, everythingOf(ann), all, first);
    expect(total).toBe(3);
    expect(entries.map((row) => row.requestId)).toEqual(expect.arrayContaining(ids));
    const indexes = await db.database.sql`select 1 from pg_indexes where tablename = ${thisMonth.table}`;
    expect(indexes).toHaveLength(4);
  });

  it("can be created while usage is written", async () => {
    let writing = true;
    let written = 0;
    const writer = (async () => {
      for (; writing; written++)
        await writePast(db.database, [{ userId: ann, at: new Date().toISOString(), price: 3 }]);
    })();
    await ensureUsagePartitions(db.database, daysAgo(200));
    writing = false;
    await writer;
    expect((await listUsage(db.database, everythingOf(ann), all, first)).total).toBe(written);
  });
});

describe("retention", () => {
  it("drops whole months, and lists and counts do not include them", async () => {
    const [old, kept] = [monthOf(daysAgo(120)), monthOf(daysAgo(60))];
    await ensureUsagePartitions(db.database, monthOf(daysAgo(120), 1).from);
    // The old month has no partition: its rows are in the default one.
    await writePast(db.database, [
      ...Array.from({ length: 30 }, () => ({ userId: ann, at: old.from.toISOString(), price: 10 })),
      { userId: ann, at: new Date(kept.from.getTime() + 1_000).toISOString(), price: 20 },
    ]);
    await closeUsageDays(db.database);
    const dropped = await dropUsageBefore(db.database, kept.from);
    expect(dropped.length).toBeGreaterThan(0);
    expect(dropped).not.toContain(kept.table);
    expect(await countIn("usage_default")).toBe(0);
    const list = await listUsage(db.database, everythingOf(ann), all, first);
    expect([list.total, list.entries.length]).toEqual([1, 1]);
    expect((await listUsage(db.database, everythingOf(ann), all, { limit: 20, offset: 20 })).entries).toEqual([]);
    // The sums remain.
    const start = "1970-01-01T00:00:00.000000Z";
    const whole = await readExpenses(db.database, everythingOf(ann), { start, end: undefined, page: 1 });
    expect([whole.totalRequests, whole.totalSpent]).toEqual([31, 320]);
    const end = old.from.toISOString().replace("00:00:00.000Z", "00:59:59.000000Z");
    expect((await readExpenses(db.database, everythingOf(ann), { start, end, page: 1 })).totalSpent).toBe(300);
  });

  it("never drops the current month, and never moves the horizon back", async () => {
    await ensureUsagePartitions(db.database, daysAgo(70));
    await writePast(db.database, [{ userId: ann, at: new Date().toISOString(), price: 20 }]);
    await dropUsageBefore(db.database, new Date(Date.now() + 400 * 86_400_000));
    expect((await listUsage(db.database, everythingOf(ann), all, first)).total).toBe(1);
    await dropUsageBefore(db.database, daysAgo(300));
    const [{ horizon }] = await db.database.sql<[{ horizon: Date }]>`select horizon from usage_marks`;
    expect(horizon).toEqual(monthOf(new Date()).from);
  });
});

describe("closing days", () => {
  it("closes each day once, with any number of nodes and after a long pause", async () => {
    await writePast(db.database, [
      { userId: ann, at: daysAgo(100).toISOString(), price: 1 },
      { userId: ann, at: daysAgo(50).toISOString(), price: 2 },
      { userId: ann, at: daysAgo(3).toISOString(), price: 4 },
      { userId: ann, at: new Date().toISOString(), price: 8 },
    ]);
    const others = Array.from({ length: 3 }, () => connect({ url: db.url, poolSize: 2 }));
    await Promise.all([db.database, ...others].map((one) => closeUsageDays(one)));
    await Promise.all(others.map((one) => one.close()));
    const days = await db.database.sql<{ spent: number }[]>`select spent_micros as spent from usage_days order by day`;
    expect(days.map((day) => day.spent)).toEqual([1, 2, 4]);
    await closeUsageDays(db.database);
    expect(await countIn("usage_days")).toBe(3);
  });

  it("takes time in proportion to the models and users of a day, also before the planner knows of them", async () => {
    const { sql } = db.database;
    await writePast(db.database, [{ userId: ann, at: daysAgo(9).toISOString(), price: 1, inferenceMs: 10 }]);
    await closeUsageDays(db.database);
    await sql`analyze usage_hours, usage_days`;
    const models = Array.from({ length: 6_000 }, (_, n) => `ann/model-${n}`);
    await writePast(
      db.database,
      models.map((model) => ({ userId: ann, at: daysAgo(3).toISOString(), price: 1, inferenceMs: 10, model })),
    );
    await closeUsageDays(db.database);
    expect(await sql`select from usage_days where latencies = '{0,0,0,0,1}' and errors = 0`).toHaveLength(6_001);
  });

  it("does nothing without usage", async () => {
    await closeUsageDays(db.database);
    expect(await countIn("usage_days")).toBe(0);
  });
});

it("the books of the overview add up before and after days are closed", async () => {
  await grantOpeningBalance(db.database, ann, 1_000);
  await writePast(db.database, [
    { userId: ann, at: daysAgo(40).toISOString(), price: 100 },
    { userId: ann, at: new Date().toISOString(), price: 20 },
  ]);
  const books = { balances: 880, reserved: 0, platform: 120, outside: -1_000, sum: 0 };
  expect((await selectOverview(db.database.sql)).books).toEqual(books);
  await closeUsageDays(db.database);
  expect((await selectOverview(db.database.sql)).books).toEqual(books);
});

describe("the upkeep", () => {
  it("runs all tasks at start, and stops", async () => {
    await writePast(db.database, [{ userId: ann, at: daysAgo(400).toISOString(), price: 5 }]);
    const upkeep = await startUsageUpkeep({ database: db.database, log, clock: soundClock, retentionDays: 90 });
    expect(await selectPartitions(db.database.sql)).toHaveLength(4);
    expect(await countIn("usage_days")).toBe(1);
    expect(await countIn("usage")).toBe(0);
    await upkeep.stop();
    await upkeep.pass();
  });

  it("keeps everything without a retention setting", async () => {
    await writePast(db.database, [{ userId: ann, at: daysAgo(4_000).toISOString(), price: 5 }]);
    const upkeep = await startUsageUpkeep({ database: db.database, log, clock: soundClock, retentionDays: undefined });
    expect((await listUsage(db.database, everythingOf(ann), all, first)).total).toBe(1);
    await upkeep.stop();
  });

  it("gives up waiting for a locked table and goes on", async () => {
    const holder = connect({ url: db.url, poolSize: 1 });
    await holder.transaction(async (tx) => {
      await tx`lock table usage_default in access share mode`;
      const upkeep = await startUsageUpkeep({
        database: db.database,
        log,
        clock: soundClock,
        retentionDays: undefined,
      });
      expect(await selectPartitions(db.database.sql)).toEqual(["usage_default"]);
      await upkeep.stop();
    });
    await holder.close();
    await ensureUsagePartitions(db.database);
    expect(await selectPartitions(db.database.sql)).toHaveLength(4);
  });
});

describe("a clock that is not trusted", () => {
  it("closes and drops nothing", async () => {
    await writePast(db.database, [{ userId: ann, at: daysAgo(400).toISOString(), price: 5 }]);
    const clock = { read: async () => ({ now: new Date(), isTrusted: false }) };
    const upkeep = await startUsageUpkeep({ database: db.database, log, clock, retentionDays: 90 });
    await upkeep.stop();
    expect([await countIn("usage"), await countIn("usage_days")]).toEqual([1, 0]);
  });
});
