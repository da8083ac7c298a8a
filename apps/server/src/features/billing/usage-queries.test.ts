import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { Database } from "../../engines/database/database.ts";
import { everythingOf } from "../accounts/index.ts";
import { type PastRequest, writePast, writeUser } from "./books.fixture.ts";
import { readExpenses } from "./expenses.ts";
import { momentOfMicros } from "./time.rules.ts";
import { exportUsage, listUsage, selectUsage, type UsageRow } from "./usage.ts";
import { ensureUsagePartitions } from "./usage-partitions.ts";
import { closeUsageDays } from "./usage-upkeep.ts";
import { verifyLedger } from "./verify-ledger.ts";

let db: Awaited<ReturnType<typeof testDatabase>>;
let database: Database;
let ann: string;
let bob: string;

const hour = 3_600_000_000;
const now = Date.now() * 1000;
let seed = 20_261_115;
const random = (below: number): number => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed % below;
};

/** Includes empty days, busy hours, rows on the hour, on its last microsecond and at the same moment. */
function randomRequests(count: number): PastRequest[] {
  const made: PastRequest[] = [];
  while (made.length < count) {
    const begins = Math.floor(now / hour) * hour - random(24 * 75) * hour;
    for (let n = random(4) === 0 ? random(600) : random(6); n > 0; n--) {
      const within = [0, 1, hour - 1, random(3_600) * 1_000_000, random(3_600_000) * 1000 + random(1000)][
        random(5)
      ] as number;
      if (begins + within >= now - 60_000_000) continue;
      made.push({
        userId: random(10) === 0 ? bob : ann,
        at: momentOfMicros(begins + within),
        model: `owner${random(3)}/model-${random(17)}`,
        price: random(3) === 0 ? 0 : random(5_000_000) + 1,
        status: random(9) === 0 ? 499 : 200,
      });
    }
  }
  return made;
}

const somewhere = (): string => {
  const whole = Math.floor(now / hour) * hour - random(24 * 80) * hour;
  return momentOfMicros([whole, whole - 1, whole - 1_000_000, whole + random(3_600_000) * 1000][random(4)] as number);
};

interface NaiveRow {
  request_id: string;
  model_name: string;
  price: number;
}

/** The expected lists, from a scan of every row. */
const naive = (userId: string, from: string | undefined, to: string | undefined) =>
  database.sql<NaiveRow[]>`
    select request_id, model_name, price_micros as price from usage
    where user_id = ${userId} and created_at >= ${from ?? "-infinity"}::text::timestamptz
      and created_at <= ${to ?? "infinity"}::text::timestamptz
    order by created_at desc, request_id desc`;

beforeAll(async () => {
  db = await testDatabase();
  database = db.database;
  ann = await writeUser(database, "ann");
  bob = await writeUser(database, "bob");
  const requests = randomRequests(6_000);
  for (let i = 0; i < requests.length; i += 1000) await writePast(database, requests.slice(i, i + 1000));
});

afterAll(async () => {
  expect(await verifyLedger(database)).toEqual([]);
  await db.drop();
});

async function compareRandomRanges(rounds: number): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    const userId = random(5) === 0 ? bob : ann;
    const [one, other] = [somewhere(), somewhere()].sort() as [string, string];
    const from = random(5) === 0 ? undefined : one;
    const to = random(4) === 0 ? undefined : other;
    const all = await naive(userId, from, to);
    const said = JSON.stringify({ userId, from, to });

    const limit = 1 + random(100);
    const offset = random(3) === 0 ? random(40) : random(all.length + 20);
    const page = await listUsage(database, everythingOf(userId), { from, to }, { limit, offset });
    expect(page.total, said).toBe(all.length);
    const expected = all.slice(offset, offset + limit).map((row) => row.request_id);
    expect(
      page.entries.map((row) => row.requestId),
      said,
    ).toEqual(expected);

    const start = from ?? "1970-01-01T00:00:00.000000Z";
    const paid = all.filter((row) => row.price > 0);
    const models = [...Map.groupBy(paid, (row) => row.model_name)]
      .map(([modelName, rows]) => ({
        modelName,
        requests: rows.length,
        spent: rows.reduce((sum, row) => sum + row.price, 0),
      }))
      .sort((a, b) => b.spent - a.spent || (a.modelName < b.modelName ? -1 : 1));
    const number = 1 + random(7);
    const expenses = await readExpenses(database, everythingOf(userId), { start, end: to, page: number });
    expect(expenses, said).toMatchObject({
      models: models.slice((number - 1) * 10, number * 10),
      totalModels: models.length,
      totalPages: Math.ceil(models.length / 10),
      totalRequests: paid.length,
      totalSpent: paid.reduce((sum, row) => sum + row.price, 0),
    });
  }
}

describe("lists and sums match a scan of every row", () => {
  it("with hours only, all rows in the default partition", () => compareRandomRanges(60));

  it("with partitions and closed days", async () => {
    await ensureUsagePartitions(database, new Date(now / 1000 - 90 * 86_400_000));
    await closeUsageDays(database);
    const [{ days, rest }] = await database.sql<[{ days: number; rest: number }]>`
      select (select count(*) from usage_days) as days, (select count(*) from usage_default) as rest`;
    expect(days).toBeGreaterThan(100);
    expect(rest).toBe(0);
    expect(await verifyLedger(database)).toEqual([]);
    await compareRandomRanges(120);
  });

  it("pages contain every row once, in order", async () => {
    const all = (await naive(ann, undefined, undefined)).map((row) => row.request_id);
    const seen: string[] = [];
    for (let offset = 0; offset < all.length; offset += 100) {
      const { entries } = await listUsage(
        database,
        everythingOf(ann),
        { from: undefined, to: undefined },
        { limit: 100, offset },
      );
      seen.push(...entries.map((row) => row.requestId));
    }
    expect(seen).toEqual(all);
  });

  it("exports contain the same rows, with both ends", async () => {
    const [from, to] = [momentOfMicros(now - 60 * 24 * hour), momentOfMicros(now - 5 * 24 * hour)];
    const portions: UsageRow[][] = [];
    for await (const portion of await exportUsage(database, everythingOf(ann), { from, to })) portions.push(portion);
    expect(portions.length).toBeGreaterThan(1);
    const all = await naive(ann, from, to);
    expect(portions.flat().map((row) => row.requestId)).toEqual(all.map((row) => row.request_id));
  });
});

describe("while rows arrive", () => {
  it("pages of a past range do not change", async () => {
    const filter = { from: undefined, to: momentOfMicros(now - 3 * hour) };
    const read = () =>
      Promise.all(
        [0, 100, 1500].map(async (offset) => {
          const { entries, total } = await listUsage(database, everythingOf(ann), filter, { limit: 100, offset });
          return { total, ids: entries.map((row) => row.requestId) };
        }),
      );
    const before = await read();
    let arriving = true;
    const writer = (async () => {
      while (arriving) await writePast(database, [{ userId: ann, at: new Date().toISOString(), price: 5 }]);
    })();
    for (let i = 0; i < 10; i++) expect(await read()).toEqual(before);
    arriving = false;
    await writer;
    const open = { ...filter, to: undefined };
    const after = await listUsage(database, everythingOf(ann), open, { limit: 1, offset: 0 });
    expect(after.total).toBe((await naive(ann, undefined, undefined)).length);
  });

  it("the total of an unbounded list matches its rows", async () => {
    let arriving = true;
    const carl = await writeUser(database, "carl");
    const writer = (async () => {
      while (arriving) await writePast(database, [{ userId: carl, at: new Date().toISOString(), price: 5 }]);
    })();
    for (let i = 0; i < 30; i++) {
      const { entries, total } = await listUsage(
        database,
        everythingOf(carl),
        { from: undefined, to: undefined },
        { limit: 10_000, offset: 0 },
      );
      expect(entries).toHaveLength(total);
    }
    arriving = false;
    await writer;
  });
});

describe("edges", () => {
  it("a row at either end of the range is included", async () => {
    const dora = await writeUser(database, "dora");
    // No day in the last hour is closed.
    const micros = Math.floor(now / 1000) * 1000 - hour / 2 + 456;
    const [before, at, after] = [micros - 1, micros, micros + 1].map(momentOfMicros) as [string, string, string];
    const [id] = await writePast(database, [{ userId: dora, at, price: 7 }]);
    for (const [from, to, hit] of [
      [at, at, true],
      [after, undefined, false],
      [undefined, before, false],
      [before, after, true],
    ] as const) {
      const { entries, total } = await listUsage(database, everythingOf(dora), { from, to }, { limit: 20, offset: 0 });
      expect([total, entries.map((row) => row.requestId)]).toEqual(hit ? [1, [id]] : [0, []]);
      const start = from ?? "1970-01-01T00:00:00.000000Z";
      expect((await readExpenses(database, everythingOf(dora), { start, end: to, page: 1 })).totalSpent).toBe(
        hit ? 7 : 0,
      );
    }
  });

  it("a user without usage", async () => {
    const eve = await writeUser(database, "eve");
    const none = { from: undefined, to: undefined };
    expect(await listUsage(database, everythingOf(eve), none, { limit: 20, offset: 0 })).toEqual({
      entries: [],
      total: 0,
    });
    for await (const portion of await exportUsage(database, everythingOf(eve), none)) expect(portion).toEqual([]);
    const expenses = await readExpenses(database, everythingOf(eve), { start: undefined, end: undefined, page: 1 });
    expect(expenses).toMatchObject({ models: [], totalModels: 0, totalPages: 0, totalRequests: 0, totalSpent: 0 });
  });
});

it("the list of a member that did little does not read the usage of the team", async () => {
  const lab = await writeUser(database, "lab");
  const keys = ["key_busy", "key_idle", "key_none"];
  await database.sql`
    insert into api_keys (id, user_id, public, secret_hash, name, created_at, member_id)
    select id, ${lab}, lpad(id, 12, 'x'), sha256('x'), '', now(), case when id = 'key_busy' then ${ann} else ${bob} end
    from unnest(${keys}::text[]) id`;
  const at = (n: number) => momentOfMicros(now - 40 * 24 * hour + n * 1_000_000);
  const ids = await writePast(
    database,
    Array.from({ length: 8_000 }, (_, n) => ({ userId: lab, at: at(n), keyId: n < 3 ? "key_idle" : "key_busy" })),
  );
  await database.sql`analyze usage, api_keys`;
  const idle = { userId: lab, onlyKeyIds: { teamId: lab, memberId: bob, seatId: "key_none" } };
  const span = { from: 0, to: Number.POSITIVE_INFINITY };
  const [rows, read] = await database.transaction(async (tx) => {
    // Includes what earlier transactions of the connection read in the last second.
    const rowsRead = async () => {
      const [row] = await tx<[{ read: number }]>`
        select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::int as read from pg_stat_xact_user_tables
        where relname like 'usage%'`;
      return row.read;
    };
    const before = await rowsRead();
    const found = await selectUsage(tx, idle, span, { limit: 2, offset: 1 });
    return [found, (await rowsRead()) - before];
  });
  expect(rows.map(({ requestId }) => requestId)).toEqual([ids[1], ids[0]]);
  expect(read).toBeLessThan(100);
  let exported = 0;
  const all = { from: undefined, to: undefined };
  for await (const portion of await exportUsage(database, idle, all)) exported += portion.length;
  expect([exported, (await listUsage(database, idle, all, { limit: 20, offset: 0 })).total]).toEqual([3, 3]);
});
