import { afterAll, expect, it } from "vitest";
import { createLog } from "../../kernel/log.ts";
import { createNet } from "../net/create-net.ts";
import { createTelemetry } from "./create-telemetry.ts";
import { surfaceOf } from "./measures.ts";

const net = createNet({ allowPrivateNetwork: true });
const open = () =>
  createTelemetry({
    log: createLog("silent"),
    net,
    version: "1.0",
    role: "all",
    nodeId: "node_1",
    collector: undefined,
  });

afterAll(() => net.close());

it("leaves out only the gauges that fail or are late", async () => {
  const telemetry = open();
  telemetry.addGauges(() => new Promise(() => {}));
  telemetry.addGauges(() => Promise.reject(new Error("away")));
  telemetry.addGauges(() => {
    throw new Error("broken");
  });
  telemetry.addGauges(() => ({ databaseUp: 0, workerSlots: 3 }));
  const startedAt = Date.now();
  const text = await telemetry.exposition();
  expect(Date.now() - startedAt).toBeLessThan(20_000);
  expect(text).toContain("\ngantry_database_up 0\n");
  expect(text).toContain("\ngantry_worker_slots 3\n");
  expect(text).not.toContain("gantry_nodes_alive");
  await telemetry.close();
});

it("excludes the backend's time and the wait for a slot from the added latency", async () => {
  const telemetry = open();
  const activity = telemetry.requestStarted(undefined, undefined);
  activity.startedAt -= 100_000;
  telemetry.within(activity, () => {
    telemetry.concerns("pred_1", "sync");
    telemetry.slotAwaited("sync", 30_000);
    telemetry.modelCalled("cog", 65_000, undefined);
  });
  telemetry.requestEnded(activity, {
    method: "POST",
    route: "/api/v1/:owner/:model/predict",
    status: 200,
    requestId: "r",
  });
  const [, added] = /gantry_added_latency_seconds_sum\{way="sync"\} (\S+)/.exec(await telemetry.exposition()) ?? [];
  expect(Number(added)).toBeGreaterThanOrEqual(5);
  expect(Number(added)).toBeLessThan(30);
});

it("does not count disconnected clients as failures of a backend", async () => {
  const telemetry = open();
  telemetry.modelCalled("cog", 1, "generation_cancelled");
  telemetry.modelCalled("cog", 1, "generation_timeout");
  const text = await telemetry.exposition();
  expect(text).toContain('gantry_model_call_failures_total{backend="cog",type="generation_timeout"} 1');
  expect(text).not.toContain('type="generation_cancelled"');
});

it.each([
  ["/api/v1/:owner/:model/predict", "model"],
  ["/api/v2/me", "account"],
  ["/v1/agents", "agents"],
  ["/:username/expenses", "other"],
  [undefined, "none"],
])("%s belongs to the surface %s", (route, surface) => expect(surfaceOf(route)).toBe(surface));
