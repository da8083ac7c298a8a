import { afterAll, beforeAll, expect, it } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { Database } from "../../engines/database/database.ts";
import { type PastRequest, writePast, writeUser } from "./books.fixture.ts";
import { closeUsageDays } from "./close-usage-days.ts";
import { listLedger } from "./list-ledger.ts";
import { momentOfMicros } from "./moment.rules.ts";
import { dropUsageBefore, ensureUsagePartitions } from "./usage-partitions.ts";
import { verifyLedger } from "./verify-ledger.ts";

let db: Awaited<ReturnType<typeof testDatabase>>;
let database: Database;
let ann: string;
let bob: string;

const hour = 3_600_000_000;
const now = Date.now() * 1000;
const always = { from: undefined, to: undefined };
let seed = 20_261_116;
const random = (below: number): number => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed % below;
};

/** On the hour, on its last microsecond, or anywhere in it, within the last 75 days. */
function someMoment(): string {
  const begins = Math.floor(now / hour) * hour - (1 + random(24 * 75)) * hour;
  const within = [0, hour - 1, random(3_600) * 1_000_000, random(3_600_000) * 1000 + 7][random(4)] as number;
  return momentOfMicros(begins + within);
}

/** Entries of every kind but charges, which come with usage; a sale has its row of usage too, as a run's end writes it. */
async function writeOthers(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const [one, other] = random(2) === 0 ? [ann, bob] : [bob, ann];
    const [mine, at] = [`user:${one}`, someMoment()];
    const [kind, from, to] = [
      ["credit", "outside", mine],
      ["correction", mine, "outside"],
      ["sale", mine, `user:${other}`],
    ][random(3)] as [string, string, string];
    await database.sql`
      insert into ledger (recorded_at, kind, from_account, to_account, amount_micros, reference, reason) values (
        ${at}::text::timestamptz, ${kind}, ${from}, ${to}, ${1 + random(1000)}, ${`other_${n}`},
        ${kind === "sale" ? null : `reason ${n}`})`;
    if (kind !== "sale") continue;
    await database.sql`
      with sold as (select amount_micros as price from ledger where kind = 'sale' and reference = ${`other_${n}`}),
      used as (
        insert into usage (request_id, user_id, model_name, route, status, created_at, price_micros)
        select ${`other_${n}`}, ${one}, 'agents/a/b', 'agent', 200, ${at}::text::timestamptz, price from sold
      )
      insert into usage_hours as h
      select ${one}, date_trunc('hour', ${at}::text::timestamptz), 'agents/a/b', 1, 1, price from sold
      on conflict (user_id, hour, model_name) do update set requests = h.requests + 1,
        paid_requests = h.paid_requests + 1, spent_micros = h.spent_micros + excluded.spent_micros`;
  }
}

/** What the list must say, by going through every entry. */
const naive = (userId: string, from: string | undefined, to: string | undefined) =>
  database.sql<{ id: number; amount: number }[]>`
    select id, case when to_account = 'user:' || ${userId} then amount_micros else -amount_micros end as amount
    from ledger where 'user:' || ${userId} in (from_account, to_account)
      and recorded_at >= ${from ?? "-infinity"}::text::timestamptz
      and recorded_at <= ${to ?? "infinity"}::text::timestamptz
    order by recorded_at desc, id desc`;

beforeAll(async () => {
  db = await testDatabase();
  database = db.database;
  ann = await writeUser(database, "ann");
  bob = await writeUser(database, "bob");
  const made: PastRequest[] = [];
  while (made.length < 3_000) {
    const at = someMoment();
    // Some days are so full that their hours are looked at.
    for (let many = random(20) === 0 ? 500 : 1; many > 0; many--) {
      made.push({ userId: random(4) === 0 ? bob : ann, at, price: random(3) === 0 ? 0 : 1 + random(1000) });
    }
  }
  await writePast(database, made);
  await writeOthers(300);
});
afterAll(async () => {
  await db.drop();
});

async function compareRandomRanges(rounds: number): Promise<void> {
  for (let n = 0; n < rounds; n++) {
    const userId = random(3) === 0 ? bob : ann;
    const [one, other] = [someMoment(), someMoment()].sort() as [string, string];
    const [from, to] = [random(3) === 0 ? undefined : one, random(3) === 0 ? undefined : other];
    const all = await naive(userId, from, to);
    const [limit, offset] = [1 + random(100), random(all.length + 20)];
    const page = await listLedger(database, userId, { from, to }, { limit, offset });
    const said = JSON.stringify({ userId, from, to, limit, offset });
    expect(page.total, said).toBe(all.length);
    const shown = page.entries.map(({ id, amount }) => ({ id, amount }));
    expect(shown, said).toEqual([...all.slice(offset, offset + limit)]);
  }
}

it("the list is what going through every entry gives, from hours alone", () => compareRandomRanges(40));

it("and from days that are closed, also where the rows of usage are gone", async () => {
  await ensureUsagePartitions(database, new Date(now / 1000 - 120 * 86_400_000));
  await closeUsageDays(database);
  expect(await verifyLedger(database)).toEqual([]);
  await compareRandomRanges(40);
  const dropped = await dropUsageBefore(database, new Date(now / 1000 - 35 * 86_400_000));
  expect(dropped.length).toBeGreaterThan(0);
  await compareRandomRanges(40);
});

it("all entries add up to the balance", async () => {
  const { entries, total } = await listLedger(database, ann, always, { limit: 10_000, offset: 0 });
  expect(entries).toHaveLength(total);
  const [wallet] = await database.sql<[{ balance: number }]>`
    select balance_micros as balance from wallets where user_id = ${ann}`;
  expect(entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(wallet.balance);
});

it("a user whose wallet never moved has none", async () => {
  const eve = await writeUser(database, "eve");
  expect(await listLedger(database, eve, always, { limit: 20, offset: 0 })).toEqual({ entries: [], total: 0 });
});
