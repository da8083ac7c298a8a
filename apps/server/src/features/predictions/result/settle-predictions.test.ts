import { newId } from "@gantry/wire";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../../test/support/database.ts";
import type { BlobStore } from "../../../engines/blobs/blobs.ts";
import { noTelemetry } from "../../../engines/telemetry/telemetry.ts";
import { systemClock } from "../../../kernel/clock.ts";
import { verifyLedger } from "../../billing/index.ts";
import { countFlow } from "../admission/flow-counts.ts";
import { endedUnused, type Fragment, type Outcome, stopReasons } from "../prediction.ts";
import { createSettlement, type Settlement } from "./settle-predictions.ts";

let own: Awaited<ReturnType<typeof testDatabase>>;
let settlement: Settlement;
const [userId, modelId] = [newId("user"), "mdl_1"];

const done: Outcome = {
  kind: "done",
  output: { output: "made" },
  usage: undefined,
  streamDetails: undefined,
  inferenceMs: 5,
  price: 1000,
};
const cancelled = () => endedUnused(stopReasons.cancelled());

beforeAll(async () => {
  own = await testDatabase();
  const { sql } = own.database;
  await sql`insert into users (id, username, role, plan, created_at) values (${userId}, 'ann', 'user', 'unlimited', now())`;
  await sql`insert into wallets (user_id) values (${userId})`;
  await sql`
    insert into models (id, owner_id, name, manifest, created_at)
    values (${modelId}, ${userId}, 'make', '{"kind": "other", "capacity": 100, "visibility": "public"}', now())`;
  await sql`insert into model_slots (model_id) values (${modelId})`;
  settlement = createSettlement({
    database: own.database,
    // No input has files here.
    blobs: {} as BlobStore,
    log: pino({ level: "silent" }),
    telemetry: noTelemetry,
    clock: systemClock,
    nodeId: newId("node"),
    flow: countFlow(own.database, pino({ level: "silent" })),
    linkOf: async () => undefined,
    // All of them are queued here.
    writer: { end: () => Promise.reject(new Error("not queued")) },
    announceGrants: async () => {},
    wakeWorkers: () => {},
  });
});

afterAll(async () => {
  expect(await verifyLedger(own.database)).toEqual([]);
  await own.drop();
});

/** A running queued prediction with a webhook. */
async function underWay(claim: number): Promise<string> {
  const id = newId("prediction");
  const { sql } = own.database;
  await sql`
    insert into live_predictions (id, user_id, key_id, model_id, model_name, route, holder, claim, started_at, queue_until,
      reserved_micros, base_url, webhook_destination, webhook_target)
    values (${id}, ${userId}, 'key_1', ${modelId}, 'ann/make', 'async', 'node_1', ${claim}, now(), now(), 1000, 'http://here',
      'http://there', '\\x00')`;
  await sql`update model_slots set running = running + 1 where model_id = ${modelId}`;
  await sql`update wallets set reserved_micros = reserved_micros + 1000 where user_id = ${userId}`;
  return id;
}

async function writtenOf(id: string) {
  const [row] = await own.database.sql<{ status: number; charges: number; told: number }[]>`
    select e.status, (select count(*)::int from usage where request_id = e.id and price_micros > 0) as charges,
      (d.payload::json #>> '{infer_details,status}')::int as told
    from ended_predictions e join webhook_deliveries d on d.prediction_id = e.id where e.id = ${id}`;
  return row;
}

test("one of two ends in a batch counts, and only that call returns true", async () => {
  for (let round = 0; round < 10; round++) {
    const id = await underWay(1);
    const ends = round % 2 === 0 ? [done, cancelled()] : [cancelled(), done];
    const counted = await Promise.all(ends.map((end) => settlement.settle(id, 1, end, "more")));
    expect(counted.filter(Boolean)).toHaveLength(1);
    const winner = ends[counted.indexOf(true)];
    const status = winner?.kind === "done" ? 200 : 499;
    expect(await writtenOf(id)).toEqual({ status, told: status, charges: status === 200 ? 1 : 0 });
  }
});

test("an end of an earlier claim does not count, even beside that of the current claim", async () => {
  for (const order of [0, 1]) {
    const id = await underWay(4);
    const ends: [number, Outcome][] = [
      [2, done],
      [4, cancelled()],
    ];
    if (order === 1) ends.reverse();
    const counted = await Promise.all(ends.map(([claim, end]) => settlement.settle(id, claim, end, "more")));
    expect(counted).toEqual(ends.map(([claim]) => claim === 4));
    expect(await writtenOf(id)).toEqual({ status: 499, told: 499, charges: 0 });
  }
});

const piece = (claim: number, seq: number, fragment: string): Fragment => ({ claim, seq, field: "output", fragment });

test("a transcript combines written and unsent fragments without duplicates", async () => {
  const { sql } = own.database;
  const cases: [end: Outcome, written: Fragment[], brought: Fragment[], said: Fragment[] | null][] = [
    [cancelled(), [piece(3, 1, "one ")], [piece(3, 2, "two")], [piece(3, 1, "one "), piece(3, 2, "two")]],
    // The reply to its writer is still missing.
    [
      cancelled(),
      [piece(3, 1, "one "), piece(3, 2, "two")],
      [piece(3, 2, "two")],
      [piece(3, 1, "one "), piece(3, 2, "two")],
    ],
    [cancelled(), [piece(1, 1, "old")], [piece(3, 1, "new")], [piece(1, 1, "old"), piece(3, 1, "new")]],
    [cancelled(), [], [piece(3, 1, '\uffff0000 "{}')], [piece(3, 1, '\uffff0000 "{}')]],
    [cancelled(), [], [], null],
    [done, [piece(3, 1, "ma")], [], null],
  ];
  // In one batch: transcripts are not mixed up.
  const ended = await Promise.all(
    cases.map(async ([end, written, brought]) => {
      const id = await underWay(3);
      await sql`update live_predictions set route = 'stream' where id = ${id}`;
      for (const { claim, seq, field, fragment } of written)
        await sql`insert into prediction_fragments values (${id}, ${claim}, ${seq}, ${field}, ${fragment})`;
      const outcome = brought.length > 0 ? { ...end, unsentFragments: brought } : end;
      return { id, settle: () => settlement.settle(id, 3, outcome as Outcome, "more") };
    }),
  );
  expect(await Promise.all(ended.map(({ settle }) => settle()))).toEqual(cases.map(() => true));
  for (const [n, { id }] of ended.entries()) {
    const [row] = await sql`select said from ended_predictions where id = ${id}`;
    expect(row).toEqual({ said: cases[n]?.[3] });
  }
  expect(await sql`select 1 from prediction_fragments`).toHaveLength(0);
});
