import type { SeriesGroup, SeriesMetric } from "@gantry/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { Database } from "../../engines/database/database.ts";
import { stepOf } from "../../kernel/latency.rules.ts";
import { everythingOf } from "../accounts/index.ts";
import { type PastRequest, writePast, writeUser } from "../billing/books.fixture.ts";
import { readExpenses } from "../billing/expenses.ts";
import {
  closeUsageDays,
  ensureUsagePartitions,
  microsOfMoment,
  momentOfMicros,
  verifyLedger,
} from "../billing/index.ts";
import { detailHours } from "../billing/upkeep-store.ts";
import { detailUsage } from "../billing/usage-details.ts";
import { openSeries, type Series, type SeriesRequest } from "./index.ts";

let db: Awaited<ReturnType<typeof testDatabase>>;
let database: Database;
let series: Series;
let ann: string;
let bob: string;

const hour = 3_600_000_000;
const day = 24 * hour;
const now = Date.now() * 1000;
let seed = 20_261_118;
const random = (below: number): number => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed % below;
};

/** Everything that was written, to add up by hand. */
const written: (PastRequest & { micros: number })[] = [];

function randomRequests(count: number, days: number): PastRequest[] {
  return Array.from({ length: count }, () => {
    const whole = Math.floor(now / hour) * hour - random(24 * days) * hour;
    const micros = Math.min(whole + ([0, hour - 1, random(3_600_000) * 1000][random(3)] ?? 0), now - 60_000_000);
    const one: PastRequest = {
      userId: random(8) === 0 ? bob : ann,
      at: momentOfMicros(micros),
      model: `owner/model-${random(12)}`,
      price: random(3) === 0 ? 0 : random(5_000_000) + 1,
      status: [200, 200, 200, 499, 502, 422][random(6)] ?? 200,
      route: ["sync", "stream", "async", "agent"][random(4)] ?? "sync",
      keyId: `key_${random(3)}`,
      inferenceMs: random(5) === 0 ? null : random(20_000),
      tokens: random(4) === 0 ? null : [random(1000), random(1000), random(100)],
    };
    written.push({ ...one, micros });
    return one;
  });
}

const ask = (change: Partial<SeriesRequest>): SeriesRequest => ({
  metric: "spend",
  from: undefined,
  to: undefined,
  step: undefined,
  groupBy: "none",
  model: undefined,
  keyId: undefined,
  mode: undefined,
  ...change,
});

beforeAll(async () => {
  db = await testDatabase();
  ({ database } = db);
  series = openSeries({ database });
  ann = await writeUser(database, "ann");
  bob = await writeUser(database, "bob");
  const requests = randomRequests(4_000, 60);
  for (let n = 0; n < requests.length; n += 1000) await writePast(database, requests.slice(n, n + 1000));
});
afterAll(async () => {
  expect(await verifyLedger(database)).toEqual([]);
  await db.drop();
});

const isError = ({ status = 200 }: PastRequest) => status >= 400 && status !== 499;
const amountOf: Record<string, (one: PastRequest) => number> = {
  spend: (one) => one.price ?? 0,
  requests: () => 1,
  errors: (one) => (isError(one) ? 1 : 0),
};
const groupOf: Record<SeriesGroup, (one: PastRequest) => string> = {
  none: () => "all",
  model: (one) => one.model ?? "",
  key: (one) => one.keyId ?? "",
  mode: (one) => one.route ?? "",
  status: (one) => (one.status === 200 ? "succeeded" : one.status === 499 ? "cancelled" : "failed"),
};

async function compareRandomRanges(rounds: number, whose?: "everyone"): Promise<void> {
  for (let n = 0; n < rounds; n++) {
    const userId = random(4) === 0 ? bob : ann;
    const step = (["hour", "day"] as const)[random(2)] ?? "hour";
    const groupBy = (whose ? ["none", "model"] : ["none", "model", "key", "mode", "status"])[
      random(whose ? 2 : 5)
    ] as SeriesGroup;
    const metric = (["spend", "requests", "errors"] as const)[random(3)] as SeriesMetric;
    const from =
      now - random(step === "hour" ? 25 : groupBy === "none" || groupBy === "model" ? 58 : 30) * day - random(hour);
    const to = from + hour + random(20) * day + random(day);
    const model = random(4) === 0 ? `owner/model-${random(12)}` : undefined;
    const request = ask({ metric, step, groupBy, model, from: momentOfMicros(from), to: momentOfMicros(to) });
    const asked = Date.now() * 1000;
    const found = await series.read(whose ?? everythingOf(userId), request);
    const said = JSON.stringify({ ...request, userId });

    const unit = step === "hour" ? hour : day;
    const first = Math.floor(from / unit) * unit;
    // An hour may begin while these tests run, but rarely during a read.
    const end = Math.min(Math.ceil(to / unit) * unit, asked);
    expect(found.times.length, said).toBe(Math.max(0, Math.ceil((end - first) / unit)));
    const own = written.filter(
      (one) =>
        (whose || one.userId === userId) &&
        one.micros >= first &&
        one.micros < Math.ceil(to / unit) * unit &&
        (!model || one.model === model),
    );
    const totals = new Map<string, number>();
    for (const one of own) {
      const group = groupOf[groupBy](one);
      totals.set(group, (totals.get(group) ?? 0) + (amountOf[metric]?.(one) ?? 0));
    }
    const all = [...totals.values()].reduce((sum, one) => sum + one, 0);
    const factor = metric === "spend" ? 1_000_000 : 1;
    expect(Math.round((found.total ?? Number.NaN) * factor), said).toBe(all);
    const top = [...totals].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, 8);
    if (groupBy !== "none") {
      const shown = found.series.filter(({ name }) => name !== "other");
      expect(
        shown.map(({ name, id, total }) => [id ?? name, Math.round((total ?? -1) * factor)]),
        said,
      ).toEqual(top);
    }
    for (const [index, time] of found.times.entries()) {
      const at = microsOfMoment(time.length === 24 ? time.replace("Z", "000Z") : time);
      const within = own.filter((one) => one.micros >= at && one.micros < at + unit);
      const expected = within.reduce((sum, one) => sum + (amountOf[metric]?.(one) ?? 0), 0);
      const drawn = found.series.reduce((sum, one) => sum + Math.round((one.values[index] ?? Number.NaN) * factor), 0);
      expect(drawn, `${said} ${time}`).toBe(expected);
    }
  }
}

describe("figures match a scan of every row", () => {
  it("while nothing is folded", () => compareRandomRanges(8));

  it("after folding and closing of days", async () => {
    await ensureUsagePartitions(database, new Date(now / 1000 - 90 * 86_400_000));
    await closeUsageDays(database);
    await writePast(
      database,
      randomRequests(1, 1).map((one) => ({ ...one, at: momentOfMicros(now) })),
    );
    written[written.length - 1] = { ...written.at(-1), micros: now } as (typeof written)[number];
    await compareRandomRanges(12);
  });

  it("of all users together", () => compareRandomRanges(8, "everyone"));
});

it("the spend of a range equals its expenses", async () => {
  for (let n = 0; n < 20; n++) {
    const from = now - (1 + random(50)) * day;
    const found = await series.read(everythingOf(ann), ask({ groupBy: "model", from: momentOfMicros(from) }));
    const end = found.to_date.length === 24 ? found.to_date.replace("Z", "000Z") : found.to_date;
    const start = found.from_date.replace("Z", "000Z");
    const { totalSpent } = await readExpenses(database, everythingOf(ann), { start, end, page: 1 });
    expect(Math.round((found.total ?? 0) * 1e6)).toBe(totalSpent);
  }
});

describe("tokens and latency", () => {
  const range = { from: momentOfMicros(now - 20 * day), step: "day" } as const;
  const first = Math.floor((now - 20 * day) / day) * day;
  const own = () => written.filter(({ userId, micros }) => userId === ann && micros >= first);

  it("tokens are input, output and the cached part", async () => {
    const { series: lines, total, unit } = await series.read(everythingOf(ann), ask({ metric: "tokens", ...range }));
    const sums = [0, 1, 2].map((n) => own().reduce((sum, one) => sum + (one.tokens?.[n] ?? 0), 0));
    expect(lines.map(({ name, total: sum }) => [name, sum])).toEqual([
      ["input", sums[0]],
      ["output", sums[1]],
      ["cached", sums[2]],
    ]);
    expect([total, unit]).toEqual([(sums[0] ?? 0) + (sums[1] ?? 0), "tokens"]);
  });

  it.each([everythingOf, () => "everyone"] as const)(
    "percentiles are within a step of the exact ones",
    async (whose) => {
      const {
        series: lines,
        total,
        unit,
      } = await series.read(whose(ann) as "everyone", ask({ metric: "latency", ...range, keyId: undefined }));
      const all = (whose(ann) === "everyone" ? written.filter(({ micros }) => micros >= first) : own())
        .filter(({ status = 200, inferenceMs = null }) => status === 200 && inferenceMs !== null)
        .map(({ inferenceMs }) => inferenceMs ?? 0)
        .sort((a, b) => a - b);
      for (const [n, share] of [0.5, 0.95].entries()) {
        const exact = (all[Math.ceil(all.length * share) - 1] ?? 0) / 1000;
        expect(Math.abs((lines[n]?.total ?? 0) - exact) / exact).toBeLessThan(0.13);
      }
      expect([lines.map(({ name }) => name), total, unit]).toEqual([["p50", "p95"], null, "seconds"]);
    },
  );

  it("by rows and by sums they are the same", async () => {
    const bySums = await series.read(everythingOf(ann), ask({ metric: "latency", ...range, groupBy: "model" }));
    const byRows = await series.read(everythingOf(ann), ask({ metric: "latency", ...range, groupBy: "mode" }));
    expect(bySums.series.length).toBe(9);
    expect(byRows.series.map(({ name }) => name).sort()).toEqual(["agent", "async", "stream", "sync"]);
  });

  it("the database puts durations into the same steps as the server", async () => {
    const durations = Array.from({ length: 400 }, (_, n) => Math.round(1.06 ** n / 1000) + n);
    const rows = await database.sql<{ step: number }[]>`
      select latency_step(ms) as step from unnest(${durations}::int[]) with ordinality as d (ms, n) order by n`;
    expect(rows.map(({ step }) => step)).toEqual(durations.map((one) => stepOf(one) + 1));
  });
});

it("hours from before the figures are unknown until they are completed, newest day first", async () => {
  const figures =
    await database.sql`select user_id, hour, model_name, errors, input_tokens, latencies from usage_hours order by 1, 2, 3`;
  const days =
    await database.sql`select user_id, day, model_name, errors, output_tokens, latencies from usage_days order by 1, 2, 3`;
  for (const table of ["usage_hours", "usage_days"]) {
    await database.sql`
      update ${database.sql(table)} set errors = null, input_tokens = null, output_tokens = null, cached_tokens = null, latencies = null`;
  }
  await database.sql`update usage_marks set detailed_from = 'infinity'`;
  const request = ask({ metric: "errors", from: momentOfMicros(now - 30 * day), step: "day" });
  const before = await series.read(everythingOf(ann), request);
  expect([before.total, before.series[0]?.values[3]]).toEqual([null, null]);
  const spend = await series.read(everythingOf(ann), { ...request, metric: "spend" });
  expect(spend.total).toBeGreaterThan(0);

  let stops = 0;
  await detailUsage(database, () => ++stops > 12);
  const partly = await series.read(everythingOf(ann), request);
  expect([partly.series[0]?.values.at(-2), partly.series[0]?.values[0]]).toEqual([expect.any(Number), null]);
  await Promise.all([detailUsage(database, () => false), detailUsage(database, () => false)]);
  expect((await series.read(everythingOf(ann), request)).total).toBeGreaterThan(0);
  expect(
    await database.sql`select user_id, hour, model_name, errors, input_tokens, latencies from usage_hours order by 1, 2, 3`,
  ).toEqual(figures);
  expect(
    await database.sql`select user_id, day, model_name, errors, output_tokens, latencies from usage_days order by 1, 2, 3`,
  ).toEqual(days);
});

it("figures of past hours are completed while predictions hold the wallet", async () => {
  const [from, to] = [4, 3].map((days) => new Date(Math.floor(now / day - days) * 86_400_000)) as [Date, Date];
  const past = { from: from.toISOString(), to: to.toISOString() };
  const figures = () => database.sql`
    select hour, model_name, errors, latencies from usage_hours
    where user_id = ${ann} and hour >= ${past.from} and hour < ${past.to} order by 1, 2`;
  const before = await figures();
  expect(before.length).toBeGreaterThan(1);
  await database.sql`
    update usage_hours set errors = null, latencies = null
    where user_id = ${ann} and hour >= ${past.from} and hour < ${past.to}`;
  await database.transaction(async (tx) => {
    await tx`select 1 from wallets where user_id = ${ann} for update`;
    await detailHours(database.sql, ann, from, to);
  });
  expect(await figures()).toEqual(before);
});

it("days that a node of an earlier version closed are completed", async () => {
  const [last] = await database.sql<{ day: Date }[]>`select max(day) as day from usage_days`;
  await database.sql`
    update usage_days set errors = null, input_tokens = null, output_tokens = null, cached_tokens = null, latencies = null
    where day = ${last?.day ?? new Date()}`;
  await detailUsage(database, () => false);
  expect(await database.sql`select 1 from usage_days where errors is null`).toEqual([]);
});
