import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { connect, type Database } from "../../src/engines/database/index.ts";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { readStream } from "../support/read-stream.ts";
import { waitFor } from "../support/wait-for.ts";
import { type Answer, call, newUser, putModel, send } from "./client.ts";
import { untilQuiet } from "./money-storm.ts";
import { promptOf, type Script, startUpstreams, type Upstreams } from "./upstreams.ts";

/** Limits are exact although two processes enforce them at the same time. */
let upstreams: Upstreams;
let cluster: Cluster;
let database: Database;

beforeAll(async () => {
  upstreams = await startUpstreams();
  const databaseUrl = await testDatabaseUrl();
  cluster = await startCluster({ databaseUrl, nodes: { one: {}, two: {} } });
  database = connect({ url: databaseUrl, poolSize: 2 });
  await database.sql`insert into plans (name, requests_per_minute, parallel) values ('sixty', 60, null)`;
  const [{ url }] = cluster.nodes as [Cluster["nodes"][number]];
  const backend = { type: "cog", url: upstreams.cogUrl };
  const pricing = { per_request: 0.01 };
  await putModel(url, "wide", { capacity: 1000, pricing, backend });
  await putModel(url, "seven", { capacity: 7, pricing, backend });
  await putModel(url, "roomy", { capacity: 20, pricing, backend });
}, 60_000);

afterAll(async () => {
  await untilQuiet(database);
  expect(await verifyLedger(database)).toEqual([]);
  await cluster.close();
  await database.close();
  await upstreams.close();
}, 120_000);

// The next attempt would count calls that a failed attempt left open.
afterEach(() =>
  waitFor(
    "all calls to end",
    async () => {
      releaseAll();
      return (await database.sql`select 1 from live_predictions`).length === 0;
    },
    20_000,
  ),
);

let names = 0;
/** A name that earlier attempts have not used. Without a dash it is also a group of the upstreams. */
const fresh = (name: string) => `${name}${++names}`;

const promptFor = (mark: string, script: Partial<Script> = {}) =>
  promptOf({ end: "ok", ms: 0, words: 1, inputTokens: 1, outputTokens: 1, mark, ...script });

/** Many calls at once, alternating between both nodes. */
const crowd = (count: number, one: (url: string, n: number) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => one((cluster.nodes[n % 2] as Cluster["nodes"][number]).url, n)));

const withStatus = (answers: readonly Answer[], status: number) => answers.filter((one) => one.status === status);
const anyUrl = () => cluster.nodes[0]?.url ?? "";
const releaseAll = () => {
  for (const id of upstreams.seen.keys()) upstreams.release(id);
};

describe("requests a minute", () => {
  for (const [plan, way] of [
    ["sixty", "sync"],
    ["free", "async"],
  ] as const) {
    test(`exactly 60 of 100 ${way} ones pass on the plan ${plan}, and one more when the time is over`, async () => {
      const name = fresh(`rated-${way}`);
      const key = await newUser(anyUrl(), name);
      await database.sql`update users set plan = ${plan} where username = ${name}`;
      const path = `/api/v1/admin/wide/predict${way === "sync" ? "" : "/async/"}`;
      const one = (url: string) => call(url, "POST", path, { key, form: { prompt: promptFor(name) } });
      const answers = await crowd(100, one);
      const [passed, refused] = [withStatus(answers, 200), withStatus(answers, 429)];
      expect([passed.length, refused.length]).toEqual([60, 40]);
      const remaining = passed.map((answer) => Number(answer.headers.get("x-ratelimit-remaining")));
      expect(remaining.sort((a, b) => b - a)).toEqual(Array.from({ length: 60 }, (_, n) => 59 - n));
      for (const answer of passed) {
        expect(answer.headers.get("x-ratelimit-limit")).toBe("60");
        expect(Number(answer.headers.get("x-ratelimit-reset"))).toBeGreaterThan(30);
        expect(Number(answer.headers.get("x-ratelimit-reset"))).toBeLessThanOrEqual(60);
      }
      for (const answer of refused) {
        expect(answer.body).toEqual({ detail: expect.any(String), status_code: 429, type: "rate_limit" });
        expect(answer.headers.get("x-service-retryable")).toBe("true");
        expect(answer.headers.get("x-ratelimit-limit")).toBe("60");
        expect(answer.headers.get("x-ratelimit-remaining")).toBe("0");
        const [reset, retry] = ["x-ratelimit-reset", "retry-after"].map((header) => answer.headers.get(header));
        expect(Number(retry)).toBeGreaterThan(30);
        expect(Number(retry)).toBeLessThanOrEqual(60);
        expect(reset).toBe(retry);
      }
      // Move the counted requests into the past, as if most of the minute had passed.
      await database.sql`
        update wallets w set hits = array[(extract(epoch from clock_timestamp()) * 1000)::bigint - 57000, 60]
        from users u where u.id = w.user_id and u.username = ${name}`;
      const early = await one(anyUrl());
      expect(early.status).toBe(429);
      const seconds = Number(early.headers.get("retry-after"));
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(3);
      await sleep(seconds * 1000);
      const late = await one(anyUrl());
      expect(late.status, late.text).toBe(200);
    });
  }
});

describe("parallel predictions", () => {
  test("exactly 4 of 50 run on the plan free, over both nodes and all routes", async () => {
    const name = fresh("parallel");
    const key = await newUser(anyUrl(), name, { plan: "free" });
    const form = { prompt: promptFor(name, { end: "hang" }) };
    for (let round = 1; round <= 2; round++) {
      const answers: Answer[] = [];
      const calls = crowd(50, async (url, n) => {
        const isStream = n % 4 < 2;
        const path = `/api/v1/admin/wide/predict${isStream ? "/stream/" : ""}`;
        const response = await send(url, "POST", path, { key, form });
        const text =
          isStream && response.status === 200
            ? JSON.stringify(await Array.fromAsync(readStream(response)))
            : await response.text();
        const answer = { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
        answers.push(answer);
        return answer;
      });
      await waitFor("46 refusals", () => answers.length === 46);
      await waitFor("4 upstream calls", () => upstreams.open === 4);
      await sleep(300);
      expect(upstreams.open).toBe(4);
      for (const answer of answers) {
        expect(answer.status).toBe(429);
        expect(answer.body).toMatchObject({ type: "concurrent_requests_limit", status_code: 429 });
        expect(answer.headers.get("retry-after")).toBe("1");
      }
      releaseAll();
      expect(withStatus(await calls, 200)).toHaveLength(4);
    }
    expect(upstreams.most(name)).toBe(4);
  });
});

describe.each(["monthly", "daily"])("the %s limit of a key", (period) => {
  test("counts reservations: 5 of 20 at once, and failures release theirs", async () => {
    const name = fresh(period);
    const key = await newUser(anyUrl(), name, { key: { [`${period}_limit`]: 0.05 } });
    const predict = (url: string, prompt: string) =>
      call(url, "POST", "/api/v1/admin/wide/predict", { key, form: { prompt } });
    const failed = await crowd(5, (url) => predict(url, promptFor(name, { end: "fail" })));
    expect(withStatus(failed, 502)).toHaveLength(5);

    let refused = 0;
    const calls = crowd(20, async (url) => {
      const answer = await predict(url, promptFor(name, { end: "hang" }));
      if (answer.status === 403) refused++;
      return answer;
    });
    await waitFor("15 refusals", () => refused === 15);
    await waitFor("5 upstream calls", () => upstreams.open === 5);
    releaseAll();
    const answers = await calls;
    expect(withStatus(answers, 200)).toHaveLength(5);
    for (const answer of withStatus(answers, 403))
      expect(answer.body).toEqual({ detail: "Insufficient funds", status_code: 403 });
    // The limit is spent, and nothing is reserved.
    expect((await predict(anyUrl(), promptFor(name))).status).toBe(403);
    const counters = database.sql(period === "monthly" ? "key_months" : "key_days");
    const [counter] = await database.sql`
      select m.spent_micros as spent, m.reserved_micros as reserved from ${counters} m
      join api_keys k on k.id = m.key_id join users u on u.id = k.user_id where u.username = ${name}`;
    expect(counter).toEqual({ spent: 50_000, reserved: 0 });
  });
});

describe("the tokens a minute of a key", () => {
  test("are exact: 5 of 20 at once fit, and ends make room", async () => {
    const name = fresh("tokens");
    const { url } = cluster.nodes[0] as Cluster["nodes"][number];
    const pricing = { per_million_input_tokens: 1 };
    await putModel(url, name, { capacity: 1000, pricing, backend: { type: "cog", url: upstreams.cogUrl } });
    const key = await newUser(anyUrl(), name, { key: { daily_limit: 1, tokens_per_minute: 21_600 } });
    // Without a limit an answer counts as 1,000 tokens or more, so five or fewer fit.
    const predict = (at: string) =>
      call(at, "POST", `/api/v1/admin/${name}/predict`, { key, form: { prompt: promptFor(name, { end: "hang" }) } });
    let refused = 0;
    const calls = crowd(20, async (at) => {
      const answer = await predict(at);
      if (answer.status !== 200) refused++;
      return answer;
    });
    await waitFor("the refusals", () => refused + upstreams.open === 20 && refused > 0);
    const [{ held, most }] = (await database.sql`
      select sum(l.reserved_tokens)::int as held, max(l.reserved_tokens)::int as most from live_predictions l
      join users u on u.id = l.user_id where u.username = ${name}`) as [{ held: number; most: number }];
    expect(held).toBeLessThanOrEqual(21_600);
    expect(held + most).toBeGreaterThan(21_600);
    releaseAll();
    const answers = await calls;
    expect(withStatus(answers, 200).length + withStatus(answers, 429).length).toBe(20);
    const used = database.sql<{ n: number }[]>`
      select tokens_in(t.window_tokens)::int as n from key_tokens t join api_keys k on k.id = t.key_id
      join users u on u.id = k.user_id where u.username = ${name}`;
    expect((await used)[0]?.n).toBeLessThan(held);
  });
});

describe("the capacity of a model", () => {
  test("is reached and never exceeded by 100 calls of all routes over two nodes", async () => {
    const users = [fresh("c"), fresh("c"), fresh("c")];
    const keys = await Promise.all(users.map((name) => newUser(anyUrl(), name)));
    const mark = fresh("seven");
    const form = { prompt: promptFor(mark, { ms: 20 }) };
    const ways = ["", "/stream/", "/async/"];
    const answers = await crowd(100, (url, n) =>
      call(url, "POST", `/api/v1/admin/seven/predict${ways[n % 3]}`, { key: keys[n % keys.length] ?? "", form }),
    );
    expect(withStatus(answers, 200)).toHaveLength(100);
    const done = () => database.sql`
      select 1 from ended_predictions e join users u on u.id = e.user_id
      where u.username = any (${users}::text[]) and e.model_name = 'admin/seven' and e.status = 200`;
    await waitFor("all to end", async () => (await done()).length === 100, 30_000);
    expect(upstreams.most(mark)).toBe(7);
  }, 60_000);
});

describe("jobs that cannot run yet", () => {
  test("do not block a model's free slots: other users are served at once", async () => {
    const crowded = await newUser(anyUrl(), fresh("crowded"), { plan: "free" });
    const other = await newUser(anyUrl(), fresh("served"));
    const queue = (prompt: string) =>
      call(anyUrl(), "POST", "/api/v1/admin/roomy/predict/async/", { key: crowded, form: { prompt } });
    const queued = await Promise.all(Array.from({ length: 12 }, () => queue(promptFor("roomy", { end: "hang" }))));
    await waitFor("four to run", () => upstreams.open === 4);
    // Eight wait for their user's parallel limit, and the model has sixteen free slots.
    const startedAt = performance.now();
    for (let n = 0; n < 10; n++) {
      const { url } = cluster.nodes[n % 2] as Cluster["nodes"][number];
      const path = `/api/v1/admin/roomy/predict${n % 4 < 2 ? "" : "/stream/"}`;
      const answer = await call(url, "POST", path, { key: other, form: { prompt: promptFor("served") } });
      expect(answer.status, answer.text).toBe(200);
    }
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    for (const { body } of queued)
      await call(anyUrl(), "POST", `/api/v1/admin/roomy/predict/cancel/?prediction_id=${body.prediction_id}`, {
        key: crowded,
      });
  }, 60_000);
});
