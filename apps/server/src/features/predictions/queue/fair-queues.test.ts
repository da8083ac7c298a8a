import { newId } from "@gantry/wire";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { testDatabase } from "../../../../test/support/database.ts";
import { type Written, writePredictions } from "../admission/write-store.ts";
import { repairQueues } from "../execution/sweep-store.ts";
import type { ArrivingPrediction, Ending } from "../prediction.ts";
import { claimJobs, releaseJobs } from "../store.ts";

let own: Awaited<ReturnType<typeof testDatabase>>;
const [node, today] = [newId("node"), new Date().toISOString().slice(0, 10)];
const people = Array.from({ length: 200 }, (_, n) => ({ userId: `usr_${n}`, keyId: `key_${n}` }));
/** May run two at a time. */
const limited = { userId: "usr_limited", keyId: "key_limited" };
const models = { wide: 1000, narrow: 3 };
type ModelName = keyof typeof models;

beforeAll(async () => {
  own = await testDatabase();
  await own.database.transaction(async (tx) => {
    await tx`insert into plans (name, requests_per_minute, parallel) values ('two', null, 2)`;
    for (const { userId, keyId } of [...people, limited]) {
      await tx`
        insert into users (id, username, role, plan, created_at)
        values (${userId}, ${userId}, 'user', ${userId === limited.userId ? "two" : "unlimited"}, now())`;
      await tx`insert into wallets (user_id) values (${userId})`;
      await tx`
        insert into api_keys (id, user_id, public, secret_hash, name, created_at)
        values (${keyId}, ${userId}, ${keyId.padStart(12, "0")}, ${Buffer.alloc(32)}, '', now())`;
    }
    for (const [id, capacity] of Object.entries(models)) {
      const manifest = JSON.stringify({ kind: "other", visibility: "public", capacity });
      await tx`
        insert into models (id, owner_id, name, manifest)
        values (${id}, ${limited.userId}, ${id}, ${manifest}::text::json)`;
      await tx`insert into model_slots (model_id) values (${id})`;
    }
  });
});

afterAll(() => own.drop());

beforeEach(async () => {
  await own.database.sql`truncate live_predictions, model_lines`;
  await own.database.sql`update model_slots set running = 0, waiting = 0, served_at = '-infinity'`;
  await own.database.sql`update wallets set running = 0, waiting = 0`;
});

function job(
  who: { userId: string; keyId: string },
  modelId: ModelName,
  more: Partial<ArrivingPrediction> = {},
): ArrivingPrediction {
  return {
    id: newId("prediction"),
    ...who,
    modelId,
    modelName: `x/${modelId}`,
    route: "async",
    highPriority: false,
    reservation: 0,
    queueSeconds: 60,
    purpose: "run",
    queued: { input: JSON.stringify({ prompt: 'a "b" \\ {c}' }), pricing: "{}", bounds: "{}", baseUrl: "http://here" },
    ...more,
  };
}

const done = (id: string, claim: number): Ending => ({
  ...{ id, claim, status: 200, inferenceMs: 1, output: "{}", error: undefined, streamDetails: undefined, price: 0 },
  ...{ inputTokens: undefined, outputTokens: undefined, cachedTokens: undefined, cacheWriteTokens: undefined },
});

const write = (endings: Ending[], arrivals: ArrivingPrediction[], slots = 0): Promise<Written> =>
  writePredictions(own.database.sql, arrivals, endings, { nodeId: node, today, slots });
const settle = (endings: Ending[]): Promise<Written> =>
  writePredictions(own.database.sql, [], endings, { nodeId: node, today, withMore: true });
const verdicts = async (arrivals: ArrivingPrediction[]) =>
  (await write([], arrivals)).decisions?.map(({ verdict }) => verdict) ?? arrivals.map(() => "run");
const claim = (slots: number) => claimJobs(own.database.sql, node, slots);
const usersOf = (jobs: readonly { userId: string }[]) => jobs.map(({ userId }) => userId);

/** Counters that differ from the rows, and waiting predictions outside the queue. */
async function faults(): Promise<readonly unknown[]> {
  return own.database.sql`
    select 'slots' as what, s.model_id as whose from model_slots s
    where (s.running, s.waiting) <> (
      select count(l.started_at)::int, (count(*) - count(l.started_at))::int from live_predictions l
      where l.model_id = s.model_id)
    union all
    select 'wallet', w.user_id from wallets w
    where (w.running, w.waiting) <> (
      select count(*) filter (where l.counts_parallel)::int,
        count(*) filter (where l.started_at is null and (l.holder is null or l.route = 'agent'))::int
      from live_predictions l where l.user_id = w.user_id)
    union all
    select 'not queued', l.id from live_predictions l
    where l.started_at is null and not exists (
      select 1 from model_lines v
      where v.model_id = l.model_id and v.user_id = l.user_id and v.high_priority = l.high_priority
        and v.head <= l.created_at)
    union all
    select 'running of a queue', v.user_id from model_lines v
    where v.running <> (
      select count(*) from live_predictions l
      where l.model_id = v.model_id and l.user_id = v.user_id and l.started_at is not null)
    union all
    select 'empty queue', v.user_id from model_lines v
    where not exists (
      select 1 from live_predictions l
      where l.model_id = v.model_id and l.user_id = v.user_id and l.high_priority = v.high_priority
        and l.started_at is null)
    union all
    select 'over capacity', s.model_id from model_slots s join models m on m.id = s.model_id where s.running > m.capacity
    union all
    select 'over parallel', w.user_id from wallets w join users u on u.id = w.user_id join plans p on p.name = u.plan
    where w.running > p.parallel`;
}

test("a job starts at acceptance if a slot is free and the queue is empty, and is claimed otherwise", async () => {
  const [first, second] = [job(limited, "wide", { hasSlot: true }), job(limited, "wide")];
  expect(await verdicts([first])).toEqual(["run"]);
  expect(await verdicts([second])).toEqual(["wait"]);
  // A slot is free, but another prediction waits.
  const third = job(limited, "wide", { hasSlot: true });
  expect(await verdicts([third])).toEqual(["wait"]);
  expect(await faults()).toEqual([]);
  const taken = await claim(10);
  expect(taken).toMatchObject([{ id: second.id, claim: 2, input: { prompt: 'a "b" \\ {c}' }, hasWebhook: false }]);
  // The user may run two, so the end lets the next one start.
  const next = await write([done(first.id, 1)], [], 1);
  expect(next).toMatchObject({ ended: [0], wake: true, jobs: null });
  expect(await claim(1)).toMatchObject([{ id: third.id }]);
  expect(await faults()).toEqual([]);
});

test("an end starts waiting jobs in the same statement", async () => {
  const running = job(people[0] ?? limited, "wide", { hasSlot: true });
  await write([], [running]);
  const waiting = Array.from({ length: 3 }, () => job(people[1] ?? limited, "wide"));
  await write([], waiting);
  const { jobs } = await write([done(running.id, 1)], [], 2);
  expect(jobs?.map(({ id }) => id).toSorted()).toEqual(
    waiting
      .slice(0, 2)
      .map(({ id }) => id)
      .toSorted(),
  );
  expect(await faults()).toEqual([]);
});

test("high priority comes first, then one job of each user before a second of any", async () => {
  const arrivals = people.flatMap((who) => [job(who, "wide"), job(who, "wide")]);
  const urgent = job(people[150] ?? limited, "wide", { highPriority: true });
  await write([], [...arrivals, urgent]);
  expect(await claim(1)).toMatchObject([{ id: urgent.id }]);
  const firstJobs = await claim(people.length);
  expect(new Set(usersOf(firstJobs)).size).toBeGreaterThan(people.length - 2);
  const rest = await claim(300);
  expect(rest).toHaveLength(people.length);
  expect(await faults()).toEqual([]);
  expect(await own.database.sql`select 1 from model_lines`).toHaveLength(0);
});

test("the user who was served longest ago comes first", async () => {
  await write(
    [],
    people.flatMap((who) => Array.from({ length: 3 }, () => job(who, "wide"))),
  );
  const served: string[] = [];
  for (let n = 0; n < people.length / 10; n++) {
    const taken = await claim(10);
    served.push(...usersOf(taken));
    await settle(taken.map(({ id, claim }) => done(id, claim)));
  }
  expect(new Set(served).size).toBe(people.length);
});

test("users at their limit are skipped, however many jobs they have queued", async () => {
  await write(
    [],
    Array.from({ length: 2000 }, () => job(limited, "narrow")),
  );
  expect(await claim(10)).toHaveLength(2);
  const other = job(people[0] ?? limited, "narrow");
  await write([], [other]);
  expect(await claim(10)).toMatchObject([{ id: other.id }]);
  expect(await faults()).toEqual([]);
});

test("models are served in rotation", async () => {
  await write(
    [],
    Array.from({ length: 10 }, () => job(people[0] ?? limited, "wide")),
  );
  await write([], [job(people[1] ?? limited, "narrow")]);
  const order: string[] = [];
  for (let n = 0; n < 4; n++) order.push(...(await claim(1)).map(({ modelId }) => modelId));
  expect(order.slice(0, 2).toSorted()).toEqual(["narrow", "wide"]);
});

test("counters and queues stay right under random operations", async () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const someone = () => (random(3) === 0 ? limited : (people[random(5)] ?? limited));
  const live = async () =>
    own.database.sql<{ id: string; claim: number; started: boolean }[]>`
      select id, claim, started_at is not null as started from live_predictions order by id`;
  for (let round = 0; round < 80; round++) {
    const all = await live();
    const chosen = all.filter(() => random(4) === 0);
    const running = chosen.filter(({ started }) => started);
    const arrivals = Array.from({ length: random(5) }, () =>
      job(someone(), random(2) === 0 ? "wide" : "narrow", { hasSlot: random(2) === 0, highPriority: random(4) === 0 }),
    );
    const kind = random(4);
    if (kind === 0) await releaseJobs(own.database.sql, running, random(2) === 0);
    else if (kind === 1) await settle(chosen.map(({ id, claim }) => done(id, claim)));
    else if (kind === 2) await claim(random(6));
    else
      await write(
        running.map(({ id, claim }) => done(id, claim)),
        arrivals,
        running.length,
      );
    if (kind !== 3) await write([], arrivals);
    expect(await faults()).toEqual([]);
  }
  expect((await live()).length).toBeGreaterThan(0);
});

test("missing queue rows are repaired", async () => {
  await write([], [job(limited, "wide"), job(people[3] ?? limited, "narrow", { highPriority: true })]);
  await own.database.sql`truncate model_lines`;
  expect(await claim(5)).toEqual([]);
  await repairQueues(own.database.sql);
  expect(await faults()).toEqual([]);
  expect(await claim(5)).toHaveLength(2);
});
