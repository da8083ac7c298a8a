import { newId } from "@gantry/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { Transaction } from "../../engines/database/database.ts";
import { noTelemetry } from "../../engines/telemetry/telemetry.ts";
import { systemClock } from "../../kernel/clock.ts";
import { verifyLedger } from "../billing/index.ts";
import { admitArrivals, type Decision, type Ending, settleEndings } from "./store.ts";
import { type PlainArrival, tallyArrivals } from "./tally-arrivals.rules.ts";
import { createPredictionWriter } from "./write-predictions.ts";
import { writePredictions } from "./write-store.ts";

let own: Awaited<ReturnType<typeof testDatabase>>;
const [nodeId, month] = [newId("node"), `${new Date().toISOString().slice(0, 7)}-01`];
const users = [newId("user"), newId("user"), newId("user")] as const;
const keys = [newId("key"), newId("key"), newId("key")] as const;
const models = ["mdl_1", "mdl_2"] as const;
const plans = ["unlimited", "pro", "free"];

beforeAll(async () => {
  own = await testDatabase();
  await own.database.transaction(async (tx) => {
    for (const [n, id] of users.entries()) {
      await tx`
        insert into users (id, username, role, plan, created_at) values (${id}, ${`u${n}`}, 'user', ${plans[n] ?? ""}, now())`;
      await tx`
        insert into api_keys (id, user_id, public, secret_hash, name, created_at, monthly_limit_micros)
        values (${keys[n] ?? ""}, ${id}, ${id.slice(-12)}, ${Buffer.alloc(32)}, '', now(), ${n === 0 ? 5_000 : null})`;
      await tx`
        insert into ledger (kind, from_account, to_account, amount_micros, reason)
        values ('credit', 'outside', ${`user:${id}`}, 10000, 'test')`;
    }
    for (const id of models) {
      const manifest = JSON.stringify({ kind: "other", visibility: "public", capacity: 8 });
      await tx`
        insert into models (id, owner_id, name, manifest) values (${id}, ${users[0]}, ${id}, ${manifest}::text::json)`;
      await tx`insert into model_slots (model_id) values (${id})`;
    }
  });
});

afterAll(async () => {
  expect(await verifyLedger(own.database)).toEqual([]);
  await own.drop();
});

const arrival = (user: number, model: number, reservation = 10): PlainArrival => ({
  id: newId("prediction"),
  userId: users[user] ?? "",
  keyId: keys[user] ?? "",
  modelId: models[model] ?? "",
  modelName: `u0/${models[model]}`,
  route: "sync",
  highPriority: false,
  reservation,
  queueSeconds: 60,
});

const ending = (id: string, price: number, claim = 1): Ending => ({
  id,
  claim,
  status: 200,
  inference_ms: 7,
  output: JSON.stringify({ text: 'a "quoted" \\ {text}, NULL' }),
  error: undefined,
  input_tokens: price > 5 ? 3 : undefined,
  output_tokens: undefined,
  cached_tokens: undefined,
  cache_write_tokens: price > 5 ? 2 : undefined,
  stream_details: undefined,
  price,
});

const together = (tx: Transaction, endings: readonly Ending[], arrivals: readonly PlainArrival[], hands = 0) =>
  writePredictions(tx, endings, arrivals, tallyArrivals(arrivals), { nodeId, month, hands });

/** As migrations/0020 decides. */
function oneByOne(tx: Transaction, arrivals: readonly PlainArrival[]): Promise<Decision[]> {
  const { users, keys, models } = tallyArrivals(arrivals);
  return admitArrivals(tx, {
    users: users.sums.map((one) => one.id),
    keys: keys.sums.map((one) => one.id),
    models: models.sums.map((one) => one.id),
    arrivals: arrivals.map((one, at) => ({
      n: at + 1,
      id: one.id,
      u: users.places[at],
      k: keys.places[at],
      m: models.places[at],
      model_name: one.modelName,
      route: one.route,
      high_priority: one.highPriority,
      holder: nodeId,
      reservation: one.reservation,
      purpose: "run",
      queue_seconds: one.queueSeconds,
    })),
    month,
  });
}

/** Everything that admission and settlement write, without the moments. */
async function stateOf(tx: Transaction): Promise<unknown> {
  const [row] = await tx`
    select (select json_agg(w order by user_id) from (
        select user_id, balance_micros, reserved_micros, running, (
          select sum(hits[2 * j]) from generate_series(1, cardinality(hits) / 2) j) as requests from wallets) w) as wallets,
      (select json_agg(m order by key_id) from key_months m) as months,
      (select json_agg(s order by model_id) from model_slots s) as slots,
      (select json_agg(l order by id) from (
        select id, user_id, key_id, model_id, model_name, route, holder, claim, reserved_micros, key_month,
          counts_parallel, started_at is null as waits, queue_until > now() as has_time from live_predictions) l) as live,
      (select json_agg(e order by id) from (
        select id, user_id, key_id, model_id, model_name, route, status, inference_ms, output, error, input_tokens,
          cache_write_tokens from ended_predictions) e) as ended,
      (select json_agg(u order by request_id) from (
        select request_id, user_id, key_id, model_name, route, status, inference_ms, input_tokens, cache_write_tokens,
          reserved_micros, price_micros from usage) u) as usage,
      (select json_agg(h order by user_id, model_name) from (
        select user_id, model_name, sum(requests) as requests, sum(paid_requests) as paid, sum(spent_micros) as spent
        from usage_hours group by 1, 2) h) as hours,
      (select json_agg(l order by reference) from (
        select kind, from_account, to_account, amount_micros, reference from ledger where kind = 'charge') l) as ledger,
      (select json_agg(f order by model_id) from (
        select model_id, sum(accepted) as accepted, sum(ended) as ended from model_flow group by 1) f) as flow`;
  return row;
}

class Undone extends Error {}

/** What the work answers and leaves behind, in a transaction that is rolled back. */
async function tried<T>(work: (tx: Transaction) => Promise<T>): Promise<{ answer: T; state: unknown }> {
  let result: { answer: T; state: unknown } | undefined;
  await own.database
    .transaction(async (tx) => {
      result = { answer: await work(tx), state: await stateOf(tx) };
      throw new Undone();
    })
    .catch((error) => {
      if (!(error instanceof Undone)) throw error;
    });
  if (!result) throw new Error("nothing was tried");
  return result;
}

/** What runs at the moment, left by earlier rounds. */
let running: PlainArrival[] = [];
let seed = 1;
const random = (below: number) => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed % below;
};

beforeEach(() => {
  running = [];
});

describe("writing together", () => {
  test("admits all only where one by one all of them run, and leaves the same behind; otherwise nothing", async () => {
    const verdicts = { together: 0, oneByOne: 0 };
    for (let round = 0; round < 60; round++) {
      const arrivals = Array.from({ length: 1 + random(6) }, () => arrival(random(3), random(2), random(4) * 700));
      const before = await tried(async () => {});
      const single = await tried((tx) => oneByOne(tx, arrivals));
      const all = await tried((tx) => together(tx, [], arrivals));
      if (all.answer.admitted) {
        expect(single.answer.map(({ verdict }) => verdict)).toEqual(arrivals.map(() => "run"));
        expect(all.state).toEqual(single.state);
        await own.database.transaction((tx) => together(tx, [], arrivals));
        running.push(...arrivals);
        verdicts.together++;
      } else {
        expect(all.state).toEqual(before.state);
        verdicts.oneByOne++;
      }
      // Some of what runs ends, so that there is room again.
      const leaving = running.splice(0, random(3) === 0 ? random(running.length + 1) : 0);
      const endings = leaving.map(({ id }) => ending(id, random(12)));
      const settled = await tried((tx) =>
        settleEndings(
          tx,
          endings.map((one, n) => ({ n, ...one })),
        ),
      );
      const ended = await tried((tx) => together(tx, endings, []));
      expect(ended.state).toEqual(settled.state);
      expect(ended.answer.endedN).toBeNull();
      await own.database.transaction((tx) => together(tx, endings, []));
    }
    expect(verdicts.together).toBeGreaterThan(10);
    expect(verdicts.oneByOne).toBeGreaterThan(10);
    await own.database.transaction((tx) =>
      together(
        tx,
        running.map(({ id }) => ending(id, 1)),
        [],
      ),
    );
    expect(await verifyLedger(own.database)).toEqual([]);
  });

  test("charges no more than was reserved, and usage names the key and the reservation", async () => {
    const arrivals = [arrival(0, 0, 10), arrival(1, 0, 10)] as const;
    await own.database.transaction((tx) => together(tx, [], arrivals));
    const [first, second] = [ending(arrivals[0].id, 11), ending(arrivals[1].id, 1_000_000)];
    await own.database.transaction((tx) => together(tx, [first], []));
    await own.database.transaction((tx) => settleEndings(tx, [{ n: 0, ...second }]));
    const used = await own.database.sql`
      select key_id, reserved_micros, price_micros, cache_write_tokens from usage
      where request_id = any (${arrivals.map(({ id }) => id)}) order by price_micros, request_id`;
    const row = { reserved_micros: 10, price_micros: 10, cache_write_tokens: 2 };
    expect(used).toEqual([
      { key_id: keys[0], ...row },
      { key_id: keys[1], ...row },
    ]);
  });

  test("a key's limit covers whole reservations, and a reservation is settled in its own month", async () => {
    const late = "2026-01-01";
    const inMonth = (tx: Transaction, endings: readonly Ending[], arrivals: readonly PlainArrival[]) =>
      writePredictions(tx, endings, arrivals, tallyArrivals(arrivals), { nodeId, month: late, hands: 0 });
    const key = newId("key");
    await own.database.sql`
      insert into api_keys (id, user_id, public, secret_hash, name, created_at, monthly_limit_micros)
      values (${key}, ${users[1]}, ${key.slice(-12)}, ${Buffer.alloc(32)}, '', now(), 1000)`;
    const of = (reservation: number) => ({ ...arrival(1, 0, reservation), keyId: key });
    const verdict = async (reservation: number) =>
      (await tried((tx) => oneByOne(tx, [of(reservation)]))).answer.map((one) => one.verdict);
    expect(await verdict(1001)).toEqual(["no_funds"]);
    expect(await verdict(1000)).toEqual(["run"]);
    expect((await tried((tx) => together(tx, [], [of(1001)]))).answer.admitted).toBe(false);
    const two = [of(600), of(300)] as const;
    expect((await own.database.transaction((tx) => inMonth(tx, [], two))).admitted).toBe(true);
    // The new month is not charged with what the old one reserved.
    expect(await verdict(1000)).toEqual(["run"]);
    await own.database.transaction((tx) => together(tx, [ending(two[0].id, 5000)], []));
    await own.database.transaction((tx) => settleEndings(tx, [{ n: 0, ...ending(two[1].id, 20) }]));
    const months = await own.database.sql`
      select month::text, spent_micros, reserved_micros from key_months where key_id = ${key} order by month`;
    expect(months).toEqual([{ month: late, spent_micros: 620, reserved_micros: 0 }]);
  });

  test("ends and arrivals in one statement are worth what they are one after the other", async () => {
    const first = [arrival(0, 0), arrival(1, 0), arrival(1, 1)];
    await own.database.transaction((tx) => together(tx, [], first));
    const endings = first.map(({ id }, n) => ending(id, n * 4));
    const next = [arrival(0, 1), arrival(1, 0)];
    const apart = await tried(async (tx) => {
      await together(tx, [], next);
      await together(tx, endings, []);
    });
    const both = await tried((tx) => together(tx, endings, next));
    expect(both.answer).toMatchObject({ admitted: true, endedN: null, wake: false });
    expect(both.state).toEqual(apart.state);
    await own.database.transaction((tx) => together(tx, endings, []));
  });

  test("of two ends of one prediction one counts, an end of another claim none, and one with a webhook is not touched", async () => {
    const [mine, queued] = [arrival(0, 0), newId("prediction")];
    await own.database.transaction(async (tx) => {
      await together(tx, [], [mine]);
      await tx`
        insert into live_predictions (id, user_id, key_id, model_id, model_name, route, holder, started_at, queue_until,
          webhook_destination, webhook_target, base_url)
        values (${queued}, ${users[0]}, ${keys[0]}, ${models[0]}, 'u0/mdl_1', 'async', ${nodeId}, now(), now(),
          'http://there', '\\x00', 'http://here')`;
      await tx`update model_slots set running = running + 1 where model_id = ${models[0]}`;
    });
    const endings = [ending(mine.id, 1, 2), ending(mine.id, 1), ending(queued, 1), ending(mine.id, 2), ending("x", 1)];
    const { endedN } = await own.database.transaction((tx) => together(tx, endings, []));
    expect(endedN).toHaveLength(1);
    expect([1, 3]).toContain(endedN?.[0]);
    const settled = await own.database.transaction((tx) => settleEndings(tx, [{ n: 0, ...ending(queued, 0) }]));
    expect(settled.ended_n).toEqual([0]);
    expect((await own.database.transaction((tx) => together(tx, endings, []))).endedN).toEqual([]);
  });

  test("a call of a run is admitted only for its holder and as its next, and is no request of the minute", async () => {
    const [runId, call] = [newId("run"), { ...arrival(2, 0), route: "agent" as const }];
    await own.database.sql`
      insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, status, holder, call_id, input, timeout_ms,
        max_steps, base_url)
      values (${runId}, 'agt_1', 'rev_1', ${users[2]}, ${users[2]}, ${keys[2]}, 'running', ${nodeId}, ${call.id}, '{}',
        1000, 5, '')`;
    const other = { ...arrival(2, 0), route: "agent" as const, runId };
    const before = await tried(async () => {});
    const lost = await tried((tx) => together(tx, [], [{ ...call, runId }, other]));
    expect(lost).toMatchObject({ answer: { admitted: false }, state: before.state });
    const { answer, state } = await tried((tx) => together(tx, [], [{ ...call, runId }]));
    expect(answer.admitted).toBe(true);
    const requestsIn = (one: unknown) =>
      (one as { wallets: { requests: number | null }[] }).wallets.map((w) => w.requests);
    expect(requestsIn(state)).toEqual(requestsIn(before.state));
    await own.database.sql`update runs set holder = 'node_other' where id = ${runId}`;
    expect(await own.database.transaction((tx) => together(tx, [], [{ ...call, runId }]))).toMatchObject({
      admitted: false,
    });
  });

  test("a freed slot goes to who waits for it", async () => {
    const runners = Array.from({ length: 8 }, () => arrival(0, 1, 0));
    await own.database.transaction((tx) => together(tx, [], runners));
    const waiter = arrival(1, 1, 0);
    expect((await own.database.transaction((tx) => together(tx, [], [waiter]))).admitted).toBe(false);
    expect(await own.database.transaction((tx) => oneByOne(tx, [waiter]))).toMatchObject([{ verdict: "wait" }]);
    const [leaving, ...staying] = runners.map(({ id }) => ending(id, 0));
    const written = await own.database.transaction((tx) => together(tx, leaving ? [leaving] : [], []));
    expect(written.grants).toMatchObject([{ id: waiter.id, holder: nodeId, claim: 1 }]);
    await own.database.transaction((tx) => together(tx, [...staying, ending(waiter.id, 0)], []));
  });
});

describe("the writer", () => {
  function createWriter(decide: (arrival: PlainArrival) => Promise<Decision>) {
    const asked: string[] = [];
    const writer = createPredictionWriter<PlainArrival>({
      database: own.database,
      clock: systemClock,
      telemetry: noTelemetry,
      nodeId,
      decideOneByOne: (one) => {
        asked.push(one.id);
        return decide(one);
      },
      announceGrants: async () => {},
      wakeWorkers: () => {},
      lendHands: () => ({ hands: 0, use: () => {} }),
    });
    return { writer, asked };
  }
  const decision = (verdict: Decision["verdict"]): Decision => ({
    ...{ verdict, rateLimit: null, rateRemaining: null, rateResetMs: null, retryAfterMs: null },
  });

  test("counts down what the plan's minute still allows", async () => {
    const { writer, asked } = createWriter(async () => decision("run"));
    const arrivals = [arrival(2, 0), arrival(2, 0), arrival(0, 0), arrival(2, 1)];
    const decisions = await Promise.all(arrivals.map((one) => writer.admit(one)));
    const [first] = decisions;
    expect(decisions.map(({ rateLimit }) => rateLimit)).toEqual([60, 60, null, 60]);
    const left = first?.rateRemaining ?? 0;
    expect(decisions.map(({ rateRemaining }) => rateRemaining)).toEqual([left, left - 1, null, left - 2]);
    expect(first?.rateResetMs).toBeGreaterThan(0);
    expect(asked).toEqual([]);
    expect(await Promise.all(arrivals.map(({ id }) => writer.end(ending(id, 1))))).toEqual([true, true, true, true]);
    expect(await writer.end(ending(arrivals[0]?.id ?? "", 1))).toBe(false);
  });

  test("has those of a user who is refused decided one by one until one of them runs, and nobody else's", async () => {
    const verdicts: Decision["verdict"][] = ["no_funds", "no_funds", "run"];
    const { writer, asked } = createWriter(async () => decision(verdicts.shift() ?? "run"));
    const dear = () => arrival(1, 0, 1_000_000);
    const refused = dear();
    expect(await writer.admit(refused)).toMatchObject({ verdict: "no_funds" });
    const cheap = [arrival(1, 0), arrival(1, 1)];
    const others = arrival(0, 1);
    expect(await writer.admit(others)).toMatchObject({ verdict: "run" });
    for (const one of cheap) await writer.admit(one);
    expect(asked).toEqual([refused.id, ...cheap.map(({ id }) => id)]);
    const after = arrival(1, 0);
    await writer.admit(after);
    expect(asked).toHaveLength(3);
    expect(await Promise.all([others, after].map(({ id }) => writer.end(ending(id, 0))))).toEqual([true, true]);
  });

  test("one end that cannot be written fails alone", async () => {
    const { writer } = createWriter(async () => decision("run"));
    const arrivals = [arrival(0, 0), arrival(0, 0)] as const;
    await Promise.all(arrivals.map((one) => writer.admit(one)));
    const bad = { ...ending(arrivals[0].id, 1), output: "no JSON" };
    const results = await Promise.allSettled([writer.end(bad), writer.end(ending(arrivals[1].id, 1))]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(await writer.end(ending(arrivals[0].id, 1))).toBe(true);
  });
});
