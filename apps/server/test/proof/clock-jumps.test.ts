import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { cogModel, createModels } from "../support/models.ts";
import { type SlowCog, startSlowCog } from "../support/slow-cog.ts";

/** A test cannot set the database's clock, so it writes the rows that a wrong clock would have left behind. */
let gantry: GantryNode;
let cog: SlowCog;
const sql = () => gantry.database.sql;

beforeAll(async () => {
  cog = await startSlowCog();
  gantry = await startGantry();
  const slow = cogModel(cog.url, { capacity: 50, pricing: { per_request: 0.01 } });
  await createModels(gantry, { slow });
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

/** Starts another server on the same database while the work runs. */
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

  test("a charge on a day that a wrong clock closed too early is part of every sum", async () => {
    const key = await gantry.newUser("early");
    await paid(key, 1);
    // Like a pass of a server whose clock was three days ahead.
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

  test("usage rows stay while the clock is far from its last trusted time", async () => {
    const key = await gantry.newUser("beyond");
    await paid(key, 2);
    await sql()`update usage set created_at = created_at - interval '400 days' where user_id = (
      select id from users where username = 'beyond')`;
    const rows = async () => (await sql()`select 1 from usage where created_at < now() - interval '300 days'`).length;
    await sql()`update clock_marks set trusted_until = now() - interval '400 days'`;
    await withStart({ GANTRY_USAGE_DAYS: "90" }, async (node) => {
      expect(await rows()).toBe(2);
      expect(node.logged()).toContain("is far from its last trusted time");
    });
    await sql()`update clock_marks set trusted_until = now()`;
    await sql()`update usage set created_at = created_at + interval '400 days' where created_at < now() - interval '300 days'`;
  });
});
