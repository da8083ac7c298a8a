import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.close());

/** As in a failover to a standby: connections end, and new ones are read-only or writable again. */
async function closeToWrites(setting: "on" | "off"): Promise<void> {
  const name = new URL(gantry.databaseUrl).pathname.slice(1);
  await gantry.database.transaction(async (tx) => {
    await tx`set transaction read write`;
    await tx.unsafe(`alter database "${name}" set default_transaction_read_only = ${setting}`);
  });
  await gantry.database.sql`
    select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name} and pid <> pg_backend_pid()`;
}

const readiness = async () => {
  const { status, body } = await gantry.call("GET", "/readyz");
  return [status, body];
};
const predict = () => gantry.call("POST", "/api/v1/gantry/rules/predict/async/", { form: { prompt: "Hello" } });

test("a read-only database is reported, serves reads, and the server recovers by itself", async () => {
  expect((await predict()).status).toBe(200);
  await closeToWrites("on");
  const reason = "The database is read-only. Nothing can be stored.";
  await expect.poll(readiness).toEqual([503, { status: "not ready", reason }]);
  // Until the last old connection has ended.
  await expect.poll(async () => (await predict()).status).toBe(503);
  const refused = await predict();
  expect([refused.status, refused.headers.get("x-service-retryable"), refused.body.detail[0]]).toMatchObject([
    503,
    "true",
    { type: "service_unavailable", msg: reason },
  ]);
  expect((await gantry.call("GET", "/api/v2/keys")).status).toBe(200);
  expect((await gantry.call("GET", "/metrics")).text).toContain("\ngantry_database_up 1\n");

  await closeToWrites("off");
  await expect.poll(readiness, { timeout: 10_000 }).toMatchObject([200, {}]);
  await expect.poll(async () => (await predict()).status, { timeout: 10_000 }).toBe(200);
}, 40_000);
