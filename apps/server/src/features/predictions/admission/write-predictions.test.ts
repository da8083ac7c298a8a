import { newId } from "@gantry/wire";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testDatabase } from "../../../../test/support/database.ts";
import { waitFor } from "../../../../test/support/wait-for.ts";
import { noTelemetry } from "../../../engines/telemetry/telemetry.ts";
import { systemClock } from "../../../kernel/clock.ts";
import { verifyLedger } from "../../billing/index.ts";
import type { ArrivingPrediction, Ending } from "../prediction.ts";
import { countFlow } from "./flow-counts.ts";
import { createPredictionWriter, type WriterDeps } from "./write-predictions.ts";
import { type WriteOptions, type Written, writePredictions } from "./write-store.ts";

let own: Awaited<ReturnType<typeof testDatabase>>;
const [nodeId, today] = [newId("node"), new Date().toISOString().slice(0, 10)];
const month = `${today.slice(0, 7)}-01`;
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
      await tx`insert into wallets (user_id) values (${id})`;
      await tx`
        insert into api_keys (id, user_id, public, secret_hash, name, created_at, monthly_limit_micros)
        values (${keys[n] ?? ""}, ${id}, ${id.slice(-12)}, ${Buffer.alloc(32)}, '', now(), ${n === 0 ? 5_000 : null})`;
      await tx`select move_money('credit', 'outside', ${`user:${id}`}, 10000, null, 'test')`;
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

const arrival = (user: number, model: number, reservation = 10): ArrivingPrediction => ({
  id: newId("prediction"),
  userId: users[user] ?? "",
  keyId: keys[user] ?? "",
  modelId: models[model] ?? "",
  modelName: `u0/${models[model]}`,
  route: "sync",
  highPriority: false,
  reservation,
  queueSeconds: 60,
  purpose: "run",
});

const ending = (id: string, price: number, claim = 1): Ending => ({
  id,
  claim,
  status: 200,
  inferenceMs: 7,
  output: JSON.stringify({ text: 'a "quoted" \\ {text}, (NULL)' }),
  error: undefined,
  inputTokens: price > 5 ? 3 : undefined,
  outputTokens: undefined,
  cachedTokens: undefined,
  cacheWriteTokens: price > 5 ? 2 : undefined,
  streamDetails: undefined,
  price,
});

const write = (
  arrivals: readonly ArrivingPrediction[],
  endings: readonly Ending[],
  options: Partial<WriteOptions> = {},
): Promise<Written> => writePredictions(own.database.sql, arrivals, endings, { nodeId, today, ...options });

async function verdicts(arrivals: readonly ArrivingPrediction[], options: Partial<WriteOptions> = {}) {
  const { decisions } = await write(arrivals, [], options);
  return decisions?.map(({ verdict }) => verdict) ?? arrivals.map(() => "run");
}

describe("writing predictions", () => {
  test("texts keep all characters", async () => {
    const one = { ...arrival(0, 0), modelName: 'u0/a"b\\c,(d){e} NULL' };
    expect(await verdicts([one])).toEqual(["run"]);
    await write([], [ending(one.id, 1)]);
    const rows = await own.database.sql`select model_name, output from ended_predictions where id = ${one.id}`;
    expect(rows).toEqual([{ model_name: one.modelName, output: { text: 'a "quoted" \\ {text}, (NULL)' } }]);
  });

  test("charges at most the reservation, and usage has the key and the reservation", async () => {
    const arrivals = [arrival(0, 0, 10), arrival(1, 0, 10)] as const;
    await write(arrivals, []);
    await write([], [ending(arrivals[0].id, 11)]);
    await write([], [ending(arrivals[1].id, 1_000_000)], { withMore: true });
    const used = await own.database.sql`
      select key_id, reserved_micros, price_micros, cache_write_tokens from usage
      where request_id = any (${arrivals.map(({ id }) => id)}) order by price_micros, request_id`;
    const row = { reserved_micros: 10, price_micros: 10, cache_write_tokens: 2 };
    expect(used).toEqual([
      { key_id: keys[0], ...row },
      { key_id: keys[1], ...row },
    ]);
  });

  test("a key's limit covers whole reservations, and each is settled in its own month", async () => {
    const late = "2026-01-01";
    const key = newId("key");
    await own.database.sql`
      insert into api_keys (id, user_id, public, secret_hash, name, created_at, monthly_limit_micros)
      values (${key}, ${users[1]}, ${key.slice(-12)}, ${Buffer.alloc(32)}, '', now(), 1000)`;
    const of = (reservation: number) => ({ ...arrival(1, 0, reservation), keyId: key });
    expect(await verdicts([of(1001)])).toEqual(["no_funds"]);
    const [first, second, third] = [of(600), of(300), of(1000)] as const;
    expect(await verdicts([first, second, of(101)], { today: late })).toEqual(["run", "run", "no_funds"]);
    // The reservation of the old month does not count in the new one.
    expect(await verdicts([third])).toEqual(["run"]);
    await write([], [ending(first.id, 5000), ending(third.id, 0)]);
    await write([], [ending(second.id, 20)], { withMore: true });
    const months = await own.database.sql`
      select month::text, spent_micros, reserved_micros from key_months where key_id = ${key} order by month`;
    expect(months).toEqual([
      { month: late, spent_micros: 620, reserved_micros: 0 },
      { month, spent_micros: 0, reserved_micros: 0 },
    ]);
  });

  test("one of two ends counts, an end of another claim does not, and predictions with a webhook are not ended", async () => {
    const mine = arrival(0, 0);
    const queued: ArrivingPrediction = {
      ...arrival(0, 0),
      route: "async",
      hasSlot: true,
      queued: {
        ...{ input: "{}", pricing: "{}", bounds: "{}", baseUrl: "http://here" },
        ...{ webhookDestination: "http://there", webhookTarget: "AA==" },
      },
    };
    expect(await verdicts([mine, queued])).toEqual(["run", "run"]);
    const endings = [ending(mine.id, 1, 2), ending(mine.id, 1), ending(queued.id, 1), ending(mine.id, 2)];
    expect((await write([], [...endings, ending("x", 1)])).ended).toEqual([1]);
    const settled = await write([], [ending("x", 1), ending(queued.id, 0)], { withMore: true });
    expect(settled).toMatchObject({
      ended: [1],
      more: [{ n: 1, id: queued.id, destination: "http://there", target: "AA==" }],
    });
    expect((await write([], endings)).ended).toBeNull();
  });

  test("a model call is admitted only for the node of its run and as its next call, and does not count as a request", async () => {
    const [runId, call] = [newId("run"), { ...arrival(2, 0), route: "agent" as const }];
    await own.database.sql`
      insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, status, holder, call_id, input, timeout_ms,
        max_steps, base_url)
      values (${runId}, 'agt_1', 'rev_1', ${users[2]}, ${users[2]}, ${keys[2]}, 'running', ${nodeId}, ${call.id}, '{}',
        1000, 5, '')`;
    const other = { ...arrival(2, 0), route: "agent" as const, runId };
    const { decisions } = await write([{ ...call, runId }, other], []);
    expect(decisions).toMatchObject([
      { verdict: "run", rateRemaining: 60 },
      { verdict: "run_lost", rateRemaining: 60 },
    ]);
    await write([], [ending(call.id, 0)]);
    // Admission waits for a concurrent claim of the run.
    const { promise: isHandedOn, resolve: handOn } = Promise.withResolvers<void>();
    const handing = own.database.transaction(async (tx) => {
      await tx`update runs set holder = 'node_other' where id = ${runId}`;
      await isHandedOn;
    });
    const asked = verdicts([{ ...call, runId }]);
    await waitFor("admission to wait for the run", async () => {
      const [row] = await own.database.sql`select 1 from pg_stat_activity where wait_event_type = 'Lock'
        and datname = current_database()`;
      return row !== undefined;
    });
    handOn();
    await handing;
    expect(await asked).toEqual(["run_lost"]);
  });

  test("under a promised id, only one prediction is ever accepted", async () => {
    const { sql } = own.database;
    const again = async (one: ArrivingPrediction) => (await verdicts([{ ...one, promised: true }]))[0];
    const first = { ...arrival(0, 0), promised: true };
    expect(await verdicts([first])).toEqual(["run"]);
    expect(await again(first)).toBe("accepted_before");
    await write([], [ending(first.id, 1)]);
    expect(await again(first)).toBe("accepted_before");
    await sql`
      with gone as (delete from ended_predictions where id = ${first.id} returning *)
      insert into deleted_predictions (id, user_id, created_at) select id, user_id, created_at from gone`;
    expect(await again(first)).toBe("accepted_before");
    const line = arrival(0, 0);
    await sql`
      with batch as (
        insert into batches (id, user_id, key_id, endpoint, input_file_id, base_url, expires_at)
        values ('batch_1', ${users[0]}, ${keys[0]}, '/v1/embeddings', 'file_1', '', now()) returning id
      )
      insert into batch_lines (batch_id, line, custom_id, prediction_id, start_byte, bytes, status)
      select id, 1, 'a', ${line.id}, 0, 1, 0 from batch`;
    expect(await again(line)).toBe("accepted_before");
    expect(await sql`select 1 from live_predictions where id = any (${[first.id, line.id]})`).toEqual([]);
  });

  test("an id that was not promised is not looked up", async () => {
    const undo = new Error("undo");
    const writing = own.database.transaction(async (tx) => {
      await tx.unsafe(`create or replace function is_accepted(prediction text) returns boolean language plpgsql as $$
        begin raise exception 'looked up'; end $$`);
      await writePredictions(tx, [arrival(0, 0), arrival(0, 0)], [], { nodeId, today });
      throw undo;
    });
    await expect(writing).rejects.toBe(undo);
  });

  test("a freed slot goes to a waiting client", async () => {
    const runners = Array.from({ length: 8 }, () => arrival(0, 1, 0));
    await write(runners, []);
    const waiter = arrival(1, 1, 0);
    expect(await verdicts([waiter])).toEqual(["wait"]);
    const [leaving, ...staying] = runners.map(({ id }) => ending(id, 0));
    const written = await write([], leaving ? [leaving] : []);
    expect(written.grants).toMatchObject([{ id: waiter.id, holder: nodeId, claim: 1 }]);
    await write([], [...staying, ending(waiter.id, 0)]);
  });
});

test("a sync prediction with a price writes eight rows in five tables", async () => {
  const one = arrival(0, 0);
  const written = await own.database.transaction(async (tx) => {
    const countRows = async () =>
      new Map(
        (
          await tx<{ table: string; n: number }[]>`
            select regexp_replace(relname, '^usage_(default|y?[0-9].*)$', 'usage') as "table",
              sum(n_tup_ins + n_tup_upd + n_tup_del)::int as n
            from pg_stat_xact_user_tables group by 1`
        ).map(({ table, n }) => [table, n] as const),
      );
    const before = await countRows();
    await writePredictions(tx, [one], [], { nodeId, today });
    await writePredictions(tx, [], [ending(one.id, 1)], { nodeId, today });
    return [...(await countRows())].map(([table, n]) => ({ table, n: n - (before.get(table) ?? 0) }));
  });
  // The key of this user has a monthly limit, which adds the last row.
  expect(Object.fromEntries(written.filter(({ n }) => n > 0).map(({ table, n }) => [table, n]))).toEqual({
    ...{ live_predictions: 2, wallets: 2, model_slots: 2, ended_predictions: 1, usage: 1 },
    key_months: 2,
  });
});

describe("the writer", () => {
  const createWriter = (others: Partial<WriterDeps> = {}) =>
    createPredictionWriter({
      database: own.database,
      clock: systemClock,
      telemetry: noTelemetry,
      nodeId,
      flow: countFlow(own.database, pino({ level: "silent" })),
      announceGrants: async () => {},
      wakeWorkers: () => {},
      takeFreedSlots: () => ({ slots: 0, use: () => {} }),
      ...others,
    });

  test("decides about each arrival of a batch, and counts down the limit per minute", async () => {
    const writer = createWriter();
    const arrivals = [
      arrival(2, 0),
      arrival(1, 0, 1_000_000),
      arrival(2, 0),
      arrival(0, 0),
      arrival(1, 1),
      arrival(2, 1),
    ];
    const decisions = await Promise.all(arrivals.map((one) => writer.decide(one)));
    expect(decisions.map(({ verdict }) => verdict)).toEqual(["run", "run", "run", "run", "no_funds", "run"]);
    expect(decisions.map(({ rateLimit }) => rateLimit)).toEqual([60, 600, 60, null, 600, 60]);
    const [first] = decisions;
    const left = first?.rateRemaining ?? 0;
    expect([2, 5].map((n) => decisions[n]?.rateRemaining)).toEqual([left - 1, left - 2]);
    expect(first?.rateResetMs).toBeGreaterThan(0);
    const ended = arrivals.filter((_, n) => n !== 4).map(({ id }) => writer.end(ending(id, 1)));
    expect(await Promise.all(ended)).toEqual([true, true, true, true, true]);
    expect(await writer.end(ending(arrivals[0]?.id ?? "", 1))).toBe(false);
  });

  test("one end that cannot be written fails alone", async () => {
    const writer = createWriter();
    const arrivals = [arrival(0, 0), arrival(0, 0)] as const;
    await Promise.all(arrivals.map((one) => writer.decide(one)));
    const bad = { ...ending(arrivals[0].id, 1), output: "no JSON" };
    const results = await Promise.allSettled([writer.end(bad), writer.end(ending(arrivals[1].id, 1))]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(await writer.end(ending(arrivals[0].id, 1))).toBe(true);
  });

  test.each([
    [true, [6, 2, 1]],
    [false, [6, 1, 1]],
  ])("waits for more after a large batch if it is one of several (%s)", async (isOneOfSeveral, batches) => {
    const written: number[] = [];
    const telemetry = { ...noTelemetry, batchWritten: (_: string, items: number) => void written.push(items) };
    const writer = createWriter({ isOneOfSeveral, telemetry });
    const decide = () => writer.decide(arrival(0, 0));
    await Promise.all(Array.from({ length: 6 }, decide));
    const next = decide();
    await new Promise(setImmediate);
    await Promise.all([next, decide()]);
    if (isOneOfSeveral) await decide();
    expect(written).toEqual(batches);
  });
});
