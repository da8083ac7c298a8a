import { afterAll, beforeAll, expect, it } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { Database } from "../../engines/database/database.ts";
import { adoptCharges, type PastRequest, writePast, writeUser } from "./books.fixture.ts";
import { listLedger } from "./ledger.ts";
import { microsOfMoment, momentOfMicros, monthOf } from "./time.rules.ts";
import { dropUsageBefore, ensureUsagePartitions } from "./usage-partitions.ts";
import { closeUsageDays } from "./usage-upkeep.ts";
import { verifyLedger } from "./verify-ledger.ts";

let db: Awaited<ReturnType<typeof testDatabase>>;
let database: Database;
let ann: string;
let bob: string;

const hour = 3_600_000_000;
const now = Date.now() * 1000;
/** Within a day. */
const adoptedAt = momentOfMicros(Math.floor(now / hour) * hour - 50 * 24 * hour - 1_234_567);
const always = { from: undefined, to: undefined };
let seed = 20_261_116;
const random = (below: number): number => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed % below;
};

const taken = new Set<number>();

/** A random time in the last 75 days: on the hour, on its last microsecond or in between. The next free one if it is taken. */
function someMoment(near?: string): string {
  const begins = Math.floor(now / hour) * hour - (1 + random(24 * 75)) * hour;
  const within = [0, hour - 1, random(3_600) * 1_000_000, random(3_600_000) * 1000 + 7][random(4)] as number;
  let micros = near === undefined ? begins + within : microsOfMoment(near);
  while (taken.has(micros)) micros++;
  taken.add(micros);
  return momentOfMicros(micros);
}

/** An entry as a list must show it. */
interface Expected {
  userId: string;
  recordedAt: string;
  kind: string;
  amount: number;
  reference: string | null;
  modelName: string | null;
  reason: string | null;
}
let expected: Expected[] = [];

async function writeCharges(count: number): Promise<void> {
  const made: (PastRequest & { id: string; price: number })[] = [];
  while (made.length < count) {
    const at = someMoment();
    // Some days have so many rows that pages are found by hour.
    for (let many = random(20) === 0 ? 500 : 1; many > 0; many--) {
      const price = random(3) === 0 ? 0 : 1 + random(1000);
      made.push({ userId: random(4) === 0 ? bob : ann, at: someMoment(at), price, id: `pred_${made.length}` });
    }
  }
  await writePast(database, made);
  for (const { userId, at, price, id } of made) {
    if (price === 0) continue;
    const modelName = "ann/model";
    expected.push({ userId, recordedAt: at, kind: "charge", amount: -price, reference: id, modelName, reason: null });
  }
}

/** Entries of every kind except charges. A sale also has a usage row, as `sell_run` writes it. */
async function writeOthers(count: number): Promise<void> {
  const { sql } = database;
  for (let n = 0; n < count; n++) {
    const [one, other] = random(2) === 0 ? [ann, bob] : [bob, ann];
    const [recordedAt, amount, id] = [someMoment(), 1 + random(1000), `other_${n}`];
    const kind = (["credit", "correction", "sale"] as const)[random(3)] ?? "sale";
    const reason = kind === "sale" ? null : `reason ${n}`;
    const from = kind === "credit" ? "outside" : `user:${one}`;
    const to = { credit: `user:${one}`, correction: "outside", sale: `user:${other}` }[kind];
    await sql`
      select move_money(${kind}, ${from}, ${to}, ${amount}::bigint, ${id}, ${reason}, ${recordedAt}::text::timestamptz)`;
    const reference = kind === "sale" ? id : null;
    const modelName = kind === "sale" ? "agents/a/b" : null;
    const signed = kind === "credit" ? amount : -amount;
    expected.push({ userId: one, recordedAt, kind, amount: signed, reference, modelName, reason });
    if (kind !== "sale") continue;
    expected.push({ userId: other, recordedAt, kind, amount, reference, modelName: null, reason });
    await sql`
      with used as (
        insert into usage (request_id, user_id, model_name, route, status, created_at, price_micros)
        values (${id}, ${one}, 'agents/a/b', 'agent', 200, ${recordedAt}::text::timestamptz, ${amount})
      )
      update wallets set unfolded = unfolded + 1 where user_id = ${one}`;
  }
}

/** In this range the charges of a user and day are one entry. Without usage rows no entry before it names a model. */
function postExpected(since: string, until: string): void {
  const isPosted = (one: Expected) => one.kind === "charge" && one.recordedAt >= since && one.recordedAt < until;
  const days = Map.groupBy(expected.filter(isPosted), (one) => one.userId + one.recordedAt.slice(0, 10));
  expected = expected
    .filter((one) => !isPosted(one))
    .map((one) => (one.recordedAt < until ? { ...one, modelName: null } : one));
  for (const charges of days.values()) {
    const [last] = charges.toSorted((a, b) => (a.recordedAt < b.recordedAt ? 1 : -1));
    if (!last) continue;
    const amount = charges.reduce((sum, one) => sum + one.amount, 0);
    const reason = `Predictions of ${last.recordedAt.slice(0, 10)}`;
    expected.push({ ...last, amount, reference: null, modelName: null, reason });
  }
}

const expectedOf = (userId: string, from: string | undefined, to: string | undefined): Omit<Expected, "userId">[] =>
  expected
    .filter((one) => one.userId === userId && one.recordedAt >= (from ?? "") && one.recordedAt <= (to ?? "9"))
    .toSorted((a, b) => (a.recordedAt < b.recordedAt ? 1 : -1))
    .map(({ userId: _, ...entry }) => entry);

beforeAll(async () => {
  db = await testDatabase();
  database = db.database;
  ann = await writeUser(database, "ann");
  bob = await writeUser(database, "bob");
  await writeCharges(3_000);
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
    const all = expectedOf(userId, from, to);
    const [limit, offset] = [1 + random(100), random(all.length + 20)];
    const page = await listLedger(database, userId, { from, to }, { limit, offset });
    const said = JSON.stringify({ userId, from, to, limit, offset });
    expect(page.total, said).toBe(all.length);
    const shown = page.entries.map(({ id: _, ...entry }) => entry);
    expect(shown, said).toEqual(all.slice(offset, offset + limit));
  }
}

it("lists match a scan of all entries while nothing is folded", () => compareRandomRanges(40));

it("lists match after folding, with a ledger entry for each older charge", async () => {
  await adoptCharges(database, adoptedAt);
  await compareRandomRanges(40);
});

it("lists match after days are closed and usage rows are dropped", async () => {
  await ensureUsagePartitions(database, new Date(now / 1000 - 120 * 86_400_000));
  await closeUsageDays(database);
  expect(await verifyLedger(database)).toEqual([]);
  await compareRandomRanges(40);
  const dropped = await dropUsageBefore(database, new Date(now / 1000));
  expect(dropped.length).toBeGreaterThan(0);
  postExpected(adoptedAt, momentOfMicros(monthOf(new Date(now / 1000)).from.getTime() * 1000));
  expect(await verifyLedger(database)).toEqual([]);
  await compareRandomRanges(60);
});

it("all entries add up to the balance and have unique ids", async () => {
  const { entries, total } = await listLedger(database, ann, always, { limit: 10_000, offset: 0 });
  expect(entries).toHaveLength(total);
  expect(new Set(entries.map(({ id }) => id)).size).toBe(total);
  const [wallet] = await database.sql<[{ balance: number }]>`
    select balance_micros as balance from wallets where user_id = ${ann}`;
  expect(entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(wallet.balance);
});

it("a user without transactions has no entries", async () => {
  const eve = await writeUser(database, "eve");
  expect(await listLedger(database, eve, always, { limit: 20, offset: 0 })).toEqual({ entries: [], total: 0 });
});
