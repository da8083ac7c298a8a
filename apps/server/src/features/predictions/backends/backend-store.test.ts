import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { testDatabase } from "../../../../test/support/database.ts";
import type { Database } from "../../../engines/database/database.ts";
import {
  addFigures,
  claimProbe,
  claimSlot,
  closeCircuit,
  forgetOldBackends,
  freeSlots,
  listCircuits,
  openCircuit,
  releaseProbe,
  selectBackends,
} from "./backend-store.ts";

let database: Database;
let drop: () => Promise<void>;
const address = { modelId: "m", backend: "b" };

beforeAll(async () => {
  ({ database, drop } = await testDatabase());
});
afterAll(() => drop());
beforeEach(async () => {
  await database.sql.unsafe("truncate backend_circuits, backend_slots, backend_calls, backend_figures");
});

const opening = (change: object = {}) => ({
  ...address,
  nodeId: "node_a",
  reason: "503",
  failures: 3,
  askedMs: null,
  ...change,
});
const open = (change: object = {}) => openCircuit(database.sql, opening(change));
const endCoolDown = () => database.sql`update backend_circuits set open_until = now()`;
const pause = async () => (await listCircuits(database.sql))[0]?.openMs ?? 0;
const running = async () =>
  (await database.sql<{ running: number }[]>`select running from backend_slots`).map((row) => row.running);

test("the cool-down doubles from 5 seconds to 5 minutes", async () => {
  for (const seconds of [5, 10, 20, 40, 80, 160, 300, 300]) {
    const before = performance.now();
    await open();
    const left = await pause();
    expect(left + performance.now() - before).toBeGreaterThan(seconds * 890);
    expect(left).toBeLessThan(seconds * 1_101);
    await endCoolDown();
  }
});

test("an open circuit is not opened again, and a pause that a backend asks for does not count", async () => {
  await open({ askedMs: 60_000, reason: "429" });
  expect(await pause()).toBeGreaterThan(59_000);
  await open();
  expect(await pause()).toBeGreaterThan(59_000);
  await endCoolDown();
  await open();
  expect(await pause()).toBeLessThan(6_000);
});

test("one node claims the probe, and only it can open the circuit again", async () => {
  const { sql } = database;
  await open();
  expect(await claimProbe(sql, address, "node_a")).toBe(false);
  await endCoolDown();
  const claims = await Promise.all(["node_a", "node_b", "node_c"].map((node) => claimProbe(sql, address, node)));
  expect(claims.filter(Boolean)).toHaveLength(1);
  const holder = `node_${"abc"[claims.indexOf(true)]}`;
  await open({ nodeId: "node_other" });
  expect((await listCircuits(sql))[0]).toMatchObject({ probing: true, openMs: 0 });
  await releaseProbe(sql, address, "node_other");
  expect(await claimProbe(sql, address, "node_other")).toBe(false);
  await open({ nodeId: holder });
  expect((await listCircuits(sql))[0]).toMatchObject({ probing: false, openMs: expect.any(Number) });
  expect(await pause()).toBeGreaterThan(8_000);
  await closeCircuit(sql, address);
  expect(await listCircuits(sql)).toEqual([]);
});

test("concurrent claims never exceed the capacity, and a slot is freed once", async () => {
  const { sql } = database;
  const ids = Array.from({ length: 30 }, (_, n) => `call_${n}`);
  const claims = await Promise.all(ids.map((id) => claimSlot(sql, id, address, { capacity: 7, nodeId: "node_a" })));
  const claimed = ids.filter((_, n) => claims[n]);
  expect([claimed.length, await running()]).toEqual([7, [7]]);
  await Promise.all([freeSlots(sql, claimed.slice(0, 4)), freeSlots(sql, claimed.slice(0, 4))]);
  expect(await running()).toEqual([3]);
  await freeSlots(sql, ["unknown", ...claimed]);
  expect(await running()).toEqual([0]);
});

test("figures are summed over nodes and time, and what belongs to no backend is deleted", async () => {
  const { sql } = database;
  const figures = { model: "m", backend: "b", calls: 3, failures: 1, latencies: [0, 2] };
  await Promise.all([addFigures(sql, [figures]), addFigures(sql, [{ ...figures, latencies: [1, 0, 5] }])]);
  await sql`update backend_figures set at = now() - interval '2 hours'`;
  await addFigures(sql, [figures]);
  const [found] = await selectBackends(sql, "m", ["b"]);
  expect(found).toEqual({
    circuit: null,
    running: null,
    hour: { calls: 3, failures: 1, latencies: [0, 2] },
    day: { calls: 9, failures: 3, latencies: [1, 4, 5] },
  });
  await open();
  await claimSlot(sql, "running", address, { capacity: 1, nodeId: "node_a" });
  await sql`update backend_figures set at = at - interval '26 hours'`;
  await forgetOldBackends(sql);
  const left = await sql<{ n: number }[]>`
    select (select count(*) from backend_figures) + (select count(*) from backend_circuits) as n`;
  expect([left[0]?.n, await running()]).toEqual([0, [1]]);
  await freeSlots(sql, ["running"]);
  await forgetOldBackends(sql);
  expect(await running()).toEqual([]);
});

test("workers of an earlier version do not claim jobs of models that list backends", async () => {
  const { sql } = database;
  await sql`insert into users (id, username, role, plan, created_at) values ('usr_1', 'ann', 'user', 'unlimited', now())`;
  await sql`insert into wallets (user_id, waiting) values ('usr_1', 1)`;
  const manifest = { title: "t", kind: "other", visibility: "private", capacity: 5, backends: [] };
  await sql`
    insert into models (id, owner_id, owner, name, manifest)
    values ('mod_1', 'usr_1', 'ann', 'listed', ${JSON.stringify(manifest)}::text::json)`;
  await sql`insert into model_slots (model_id, waiting) values ('mod_1', 1)`;
  await sql`
    insert into live_predictions (id, user_id, model_id, model_name, route, high_priority, reserved_micros,
      counts_parallel, created_at, queue_until)
    values ('pred_1', 'usr_1', 'mod_1', 'ann/listed', 'async', false, 0, false, now(), now() + interval '1 hour')`;
  await sql`insert into nodes (id, lists_backends) values ('node_old', false), ('node_new', true)`;
  const claim = (node: string) => sql`select id from start_chosen(${node}, ${["pred_1"]}::text[], 5)`;
  expect(await claim("node_old")).toHaveLength(0);
  expect(await claim("node_new")).toHaveLength(1);
});
