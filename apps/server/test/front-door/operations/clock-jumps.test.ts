import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { type SlowCog, startSlowCog } from "../../support/slow-cog.ts";

/** A test cannot set the database's clock: it writes what a clock that stood elsewhere has left behind. */
let gantry: GantryNode;
let cog: SlowCog;
const sql = () => gantry.database.sql;

beforeAll(async () => {
  cog = await startSlowCog();
  gantry = await startGantry();
  const text = { type: "string" };
  const model = (name: string) =>
    gantry.call("PUT", `/api/v1/admin/${name}`, {
      json: {
        title: "Slow",
        kind: "other",
        visibility: "public",
        capacity: 50,
        pricing: { per_request: 0.01 },
        input: { type: "object", required: ["prompt"], properties: { prompt: text } },
        output: { type: "object", required: ["output"], properties: { output: text } },
        backend: { type: "cog", url: cog.url },
      },
    });
  for (const name of ["slow", "still"]) expect((await model(name)).status).toBe(201);
});

afterAll(async () => {
  expect(await verifyLedger(gantry.database)).toEqual([]);
  await gantry.close();
  await cog.close();
});

const predict = async (key: string) => {
  const answering = gantry.call("POST", "/api/v1/admin/slow/predict/", { form: { prompt: "x" }, key });
  const finishing = setInterval(() => cog.finishAll(), 5);
  return answering.finally(() => clearInterval(finishing));
};

async function paid(key: string, calls: number): Promise<void> {
  for (let n = 0; n < calls; n++) {
    const answer = await predict(key);
    expect(answer.status, answer.text).toBe(200);
  }
}

/** Another server on the same database, for the time of the work: its start does what every start does. */
async function withStart(env: Record<string, string>, work: (node: GantryNode) => Promise<void>): Promise<void> {
  const node = await startGantry({ beside: gantry, env });
  await work(node).finally(() => node.close());
}

describe("money", () => {
  const spentBy = async (name: string, query = "") =>
    (await gantry.call("GET", `/${name}/expenses/${query}`)).body.total_spent;
  const sumOfBooks = async () => {
    const { books } = (await gantry.call("GET", "/api/v2/admin/overview")).body;
    return books.sum;
  };

  test("that is charged on a day that a clock closed too early is in every sum", async () => {
    const key = await gantry.newUser("early");
    await paid(key, 1);
    // As a pass of a server whose clock stood three days ahead.
    await sql()`select fold_usage(user_id) from wallets`;
    await sql()`
      with closed as (
        insert into usage_days select user_id, date_trunc('day', hour, 'UTC'), model_name, sum(requests), sum(paid_requests),
          sum(spent_micros) from usage_hours group by 1, 2, 3 returning spent_micros)
      update usage_marks set days_before = date_trunc('day', now(), 'UTC') + interval '3 days',
        charged_micros = (select sum(spent_micros) from closed)`;
    await paid(key, 3);
    expect([await spentBy("early"), await sumOfBooks()]).toEqual([0.04, 0]);
    expect((await gantry.call("GET", "/api/v2/usage", { key })).body.total_count).toBe(4);
    expect(await verifyLedger(gantry.database)).toEqual([]);
    await sql()`select fold_usage(user_id) from wallets`;
    expect([await spentBy("early"), await sumOfBooks()]).toEqual([0.04, 0]);
    expect(await verifyLedger(gantry.database)).toEqual([]);
  });

  test("and its single rows stay where the clock stands far beyond all that was known", async () => {
    const key = await gantry.newUser("beyond");
    await paid(key, 2);
    await sql()`update usage set created_at = created_at - interval '400 days' where user_id = (
      select id from users where username = 'beyond')`;
    const rows = async () => (await sql()`select 1 from usage where created_at < now() - interval '300 days'`).length;
    await sql()`update clock_marks set trusted_until = now() - interval '400 days'`;
    await withStart({ GANTRY_USAGE_DAYS: "90" }, async (node) => {
      expect(await rows()).toBe(2);
      expect(node.logged()).toContain("stands far from all that was known");
    });
    await sql()`update clock_marks set trusted_until = now()`;
    await sql()`update usage set created_at = created_at + interval '400 days' where created_at < now() - interval '300 days'`;
  });
});

test("who waits for a result waits as long as was said, wherever the clock is set", async () => {
  const accepted = await gantry.call("POST", "/api/v1/admin/still/predict/async/", { form: { prompt: "x" } });
  const id = accepted.body.prediction_id;
  const beganAt = performance.now();
  const reading = gantry.call("GET", `/api/v1/admin/still/predict/async/result/?request_id=${id}&wait=2`);
  await sleep(500);
  const before = Date.now;
  const set = vi.spyOn(Date, "now").mockImplementation(() => before() - 3_600_000);
  try {
    const answer = await Promise.race([reading, sleep(15_000)]);
    expect(answer?.body.inference_responses[0].infer_details.status).toBe(202);
    expect(performance.now() - beganAt).toBeLessThan(14_000);
  } finally {
    set.mockRestore();
    cog.finishAll();
    await reading;
  }
}, 20_000);
