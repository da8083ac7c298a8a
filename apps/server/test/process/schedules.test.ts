import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { call } from "../proof/client.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { testDatabase } from "../support/database.ts";
import { waitFor } from "../support/wait-for.ts";

/** Three processes on one database create runs at due times while they are killed, stopped and started again. */
let own: Awaited<ReturnType<typeof testDatabase>>;
let cluster: Cluster;

const schedules = 25;
const rounds = 6;
const minutesARound = 3;

// A repeated test begins with its own database.
beforeEach(async () => {
  own = await testDatabase();
  const env = { GANTRY_RUN_PARALLEL: "2" };
  cluster = await startCluster({ databaseUrl: own.url, env, nodes: { one: {}, two: {}, three: {} } });
}, 180_000);

afterEach(async () => {
  await cluster?.close();
  await own.drop();
}, 60_000);

test("each due time has exactly one run, whichever process dies when", async () => {
  const { sql } = own.database;
  const { url } = cluster.node("one");
  const json = { name: "Clerk", goal: "Do it.", tools: [], model: "gantry/rules" };
  const agent = (await call(url, "POST", "/v1/agents", { json })).body.id;
  expect((await call(url, "POST", `/v1/agents/${agent}/publish`, { json: {} })).status).toBe(200);
  const body = { cron: "* * * * *", overlap: "queue", input: {} };
  for (let n = 0; n < schedules; n++) {
    const made = await call(url, "POST", `/v1/agents/${agent}/schedules`, { json: body });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
  }

  // The clock of the database cannot be moved, so due times are moved: three minutes back is three minutes later. Each
  // row says how many due times it must have had: minutes moved, and minutes that it has advanced since it was created.
  await sql`create table moved as select id, next_at as first, 0 as minutes from schedules`;
  const moveClock = () => sql`
    with caught_up as (
      update schedules set next_at = next_at - ${minutesARound} * interval '1 minute', look_at = now(), upcoming = '{}'
      where next_at > now() returning id
    )
    update moved m set minutes = m.minutes + ${minutesARound} from caught_up c where c.id = m.id`;

  let moves = 0;
  // Only schedules that have caught up move: slow machines need more rounds.
  for (let round = 0; round < rounds || (moves <= schedules && round < 5 * rounds); round++) {
    moves += (await moveClock()).count;
    await sleep(Math.random() * 1500);
    const up = cluster.up();
    const victim = up[Math.floor(Math.random() * up.length)];
    if (!victim) throw new Error("No process runs");
    if (round % 3 === 2) await victim.terminate();
    else await victim.kill();
    await sleep(Math.random() * 500);
    await victim.start();
  }
  expect(moves).toBeGreaterThan(schedules);
  // All at once, in the middle of work.
  await moveClock();
  await sleep(500);
  await Promise.all(cluster.up().map((node) => node.kill()));
  await Promise.all(cluster.nodes.map((node) => node.start()));

  const late = async () => (await sql`select 1 from schedules where next_at <= now()`).length;
  await waitFor("all due times to be handled", async () => (await late()) === 0, 120_000);
  const wrong = await sql`
    select s.id, m.minutes + extract(epoch from s.next_at - m.first)::int / 60 as due, s.last_skipped_at as skipped,
      s.paused_reason as paused, (select count(*)::int from runs r where r.source_id = s.id) as runs
    from schedules s join moved m on m.id = s.id
    where s.last_skipped_at is not null or s.paused_reason is not null
      or (select count(*) from runs r where r.source_id = s.id)
        <> m.minutes + extract(epoch from s.next_at - m.first)::int / 60`;
  expect(wrong).toEqual([]);
  const [total] = await sql<[{ runs: number }]>`select count(*)::int as runs from runs where source_id is not null`;
  expect(total.runs).toBeGreaterThanOrEqual(moves * minutesARound);
  expect(await verifyLedger(own.database)).toEqual([]);
  expect(cluster.nodes.flatMap(({ crashes }) => crashes)).toEqual([]);
}, 600_000);
