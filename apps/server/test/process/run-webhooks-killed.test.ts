import { afterAll, beforeAll, expect, test } from "vitest";
import { call } from "../proof/client.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { testDatabase } from "../support/database.ts";
import { waitFor } from "../support/wait-for.ts";
import { type HookReceiver, startHookReceiver } from "../support/webhook-receiver.ts";

/** A worker is killed after the end of a run was stored and before its webhook was sent. */
let own: Awaited<ReturnType<typeof testDatabase>>;
let site: HookReceiver;
let cluster: Cluster;
const takeoverMs = 60_000;

beforeAll(async () => {
  [own, site] = await Promise.all([testDatabase(), startHookReceiver()]);
  const nodes = { api: { GANTRY_ROLE: "api" }, one: { GANTRY_ROLE: "worker" }, two: { GANTRY_ROLE: "worker" } };
  cluster = await startCluster({ databaseUrl: own.url, nodes });
  await cluster.node("two").kill();
}, 120_000);

afterAll(async () => {
  await cluster?.close();
  await site.close();
  await own.drop();
}, 60_000);

test("another worker sends the webhook, once", async () => {
  const { url } = cluster.node("api");
  const json = { name: "Reckoner", goal: "Say hello.", tools: [], model: "gantry/rules" };
  const agent = (await call(url, "POST", "/v1/agents", { json })).body.id;
  expect((await call(url, "POST", `/v1/agents/${agent}/publish`, { json: {} })).status).toBe(200);
  const hook = (await call(url, "POST", `/v1/agents/${agent}/triggers`, { json: { delivery_id: { path: "id" } } }))
    .body;
  const change = { json: { webhook: { url: site.url } } };
  const { latest_revision_id } = (await call(url, "PATCH", `/v1/agents/${agent}`, change)).body;
  await call(url, "POST", `/v1/agents/${agent}/publish`, { json: { revision_id: latest_revision_id } });
  const stored = async () => own.database.sql<{ runId: string }[]>`select run_id as "runId" from run_webhook_events`;
  let runId = "";

  await own.database.transaction(async (tx) => {
    // No delivery can be written until the transaction ends.
    await tx`lock table webhook_deliveries in exclusive mode`;
    const sent = await call(url, "POST", new URL(hook.url).pathname, { json: { id: "d-1" } });
    expect(sent.status, sent.text).toBe(202);
    runId = sent.body.run_id;
    await waitFor("the end of the run", async () => (await stored()).length === 1, takeoverMs);
    expect((await call(url, "GET", `/v1/runs/${runId}`)).body.status).toBe("done");
    await cluster.node("one").kill();
  });
  expect(site.received).toHaveLength(0);
  // The sender of the webhook repeats its delivery meanwhile: it is known.
  const again = await call(url, "POST", new URL(hook.url).pathname, { json: { id: "d-1" } });
  expect(again.body).toEqual({ run_id: runId, duplicate: true });

  await cluster.node("two").start();
  await waitFor("the webhook", () => site.received.length === 1, takeoverMs);
  await waitFor("the result", async () => {
    const { results } = (await call(url, "GET", `/api/v2/webhooks/deliveries?run_id=${runId}`)).body;
    return results.length === 1 && results[0].status === "delivered";
  });
  expect(site.received.map(({ body }) => [body.type, body.run.id])).toEqual([["run.done", runId]]);
  expect(await stored()).toHaveLength(0);
}, 180_000);
