import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import manifest from "../../../../../package.json" with { type: "json" };
import {
  type CollectedSpan,
  type Collector,
  startCollector,
} from "../../../src/engines/telemetry/collector.fixture.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { waitFor } from "../../support/wait-for.ts";

const metricsKey = "a-key-for-prometheus-alone";
const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";
const traced = { traceparent: `00-${traceId}-${parentId}-01`, tracestate: "vendor=1" };
const prompt = "words-that-stay-inside";

let gantry: GantryNode;
let collector: Collector;
let userKey: string;
let slowMs = 0;
const calls: { url: string; headers: IncomingHttpHeaders }[] = [];

const upstream = createServer(async (request, response) => {
  for await (const _ of request);
  calls.push({ url: request.url ?? "", headers: request.headers });
  await sleep(slowMs);
  if (request.url?.startsWith("/hook")) return void response.end();
  if (request.url?.startsWith("/bad")) return void response.writeHead(400).end("{}");
  if (!request.url?.includes("chat")) {
    return void response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ status: "succeeded", output: "done" }));
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const data of [
    { choices: [{ index: 0, delta: { content: "hello" } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    { choices: [], usage: { prompt_tokens: 11, completion_tokens: 7 } },
  ]) {
    response.write(`data: ${JSON.stringify(data)}\n\n`);
  }
  response.end("data: [DONE]\n\n");
});

const text = { type: "string" };
const object = (properties: object, required: string[]) => ({ type: "object", required, properties });

beforeAll(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  collector = await startCollector();
  gantry = await startGantry({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      GANTRY_METRICS_KEY: metricsKey,
      OTEL_SERVICE_NAME: "test-gantry",
    },
  });
  const manifest = {
    title: "T",
    description: "D",
    kind: "other",
    visibility: "public",
    capacity: 4,
    pricing: { per_request: 0.01 },
    input: object({ prompt: text, max_tokens: { type: "integer" } }, ["prompt"]),
    output: object({ output: text }, ["output"]),
    backend: { type: "cog", url },
  };
  const models = {
    cog: manifest,
    bad: { ...manifest, backend: { type: "cog", url: `${url}/bad` } },
    chat: {
      ...manifest,
      kind: "text",
      output: object({ output: { ...text, isStream: true } }, ["output"]),
      backend: { type: "openai-chat", url: `${url}/v1`, model: "big-model" },
    },
  };
  for (const [name, json] of Object.entries(models)) {
    const made = await gantry.call("PUT", `/api/v1/admin/${name}`, { json });
    expect(made.status, made.text).toBe(201);
  }
  userKey = await gantry.newUser("tracy");
});
beforeEach(() => {
  calls.length = 0;
  slowMs = 0;
});
afterAll(async () => {
  await gantry.close();
  await collector.close();
  upstream.closeAllConnections();
  upstream.close();
});

const predict = (path: string, options: object = {}) =>
  gantry.call("POST", `/api/v1/admin/${path}`, { key: userKey, form: { prompt, max_tokens: "64" }, ...options });

/** The spans of one prediction, once its server span has arrived last. */
async function spansOf(predictionId: string, last: string): Promise<Map<string, CollectedSpan>> {
  const own = () => {
    const mine = collector.spans.find((span) => span.attributes["gantry.prediction_id"] === predictionId);
    return mine ? collector.spans.filter((span) => span.traceId === mine.traceId) : [];
  };
  await waitFor(`the span ${last}`, () => own().some((span) => span.name === last));
  return new Map(own().map((span) => [span.name, span]));
}

describe("traces", () => {
  test("a request continues its caller's trace through the model's backend", async () => {
    collector.spans.length = 0;
    const answer = await predict("cog/predict", { headers: traced });
    expect(answer.status, answer.text).toBe(200);
    const root = "POST /api/v1/:owner/:model/predict";
    const spans = await spansOf(answer.body.prediction_id, root);
    const parentOf = (name: string) => spans.get(name)?.parentSpanId;
    const idOf = (name: string) => spans.get(name)?.spanId;
    const model = "generate_content admin/cog";
    expect([...spans.keys()].sort()).toEqual([root, "POST", "admission", "execution", model, "settlement"].sort());
    expect(parentOf(root)).toBe(parentId);
    for (const name of ["admission", "execution", "settlement"]) expect(parentOf(name), name).toBe(idOf(root));
    expect(parentOf(model)).toBe(idOf("execution"));
    expect(parentOf("POST")).toBe(idOf(model));
    expect([...spans.values()].every((span) => span.traceId === traceId)).toBe(true);
    expect(calls[0]?.headers).toMatchObject({
      traceparent: `00-${traceId}-${idOf("POST")}-01`,
      tracestate: "vendor=1",
    });
    const { attributes, resource, kind, startTimeUnixNano, endTimeUnixNano } = spans.get(root) as CollectedSpan;
    expect(kind).toBe(2);
    expect(attributes).toMatchObject({
      "http.request.method": "POST",
      "http.route": "/api/v1/:owner/:model/predict",
      "http.response.status_code": 200,
      "gantry.prediction_id": answer.body.prediction_id,
      "gantry.request_id": answer.headers.get("x-request-id"),
    });
    expect(resource).toMatchObject({ "service.name": "test-gantry", "gantry.role": "all" });
    const from = Number(startTimeUnixNano) / 1e6;
    expect(Math.abs(Date.now() - from)).toBeLessThan(20_000);
    expect(Number(endTimeUnixNano)).toBeGreaterThan(Number(startTimeUnixNano));
  });

  test("a text model's span has the conventional figures and no prompt text", async () => {
    collector.bodies.length = 0;
    const answer = await predict("chat/predict/stream");
    const id = answer.headers.get("x-prediction-id") ?? "";
    const span = (await spansOf(id, "POST /api/v1/:owner/:model/predict/stream")).get("chat big-model");
    expect(span?.kind).toBe(3);
    expect(span?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "big-model",
      "gen_ai.request.max_tokens": 64,
      "gen_ai.usage.input_tokens": 11,
      "gen_ai.usage.output_tokens": 7,
      "gen_ai.response.finish_reasons": ["stop"],
      "server.address": "127.0.0.1",
    });
    expect(collector.bodies.join()).not.toContain(prompt);
    expect(collector.bodies.join()).not.toContain(userKey);
  });

  test("failures carry their error type", async () => {
    const answer = await predict("bad/predict", { headers: traced });
    expect(answer.status).toBe(502);
    const id = answer.headers.get("x-prediction-id") ?? "";
    const spans = await spansOf(id, "POST /api/v1/:owner/:model/predict");
    expect(spans.get("generate_content admin/bad")).toMatchObject({
      status: { code: 2 },
      attributes: { "error.type": "downstream_service_error" },
    });
  });

  test("a queued prediction keeps its trace to its backend and webhook", async () => {
    const { port } = upstream.address() as AddressInfo;
    const own = { traceparent: `00-${"ab".repeat(16)}-${parentId}-01` };
    const webhook = JSON.stringify({ url: `http://127.0.0.1:${port}/hook`, headers: {}, query_params: {} });
    const accepted = await predict("cog/predict/async", { form: { prompt, webhook }, headers: own });
    const spans = await spansOf(accepted.body.prediction_id, "webhook");
    await waitFor("the delivery", () => calls.length === 2);
    const [called, told] = calls;
    expect(called?.headers.traceparent).toContain("ab".repeat(16));
    expect(told?.url).toBe("/hook");
    expect(told?.headers.traceparent).toContain("ab".repeat(16));
    const request = spans.get("POST /api/v1/:owner/:model/predict/async");
    for (const name of ["admission", "queue", "execution", "settlement"]) {
      expect(spans.get(name)?.parentSpanId, name).toBe(request?.spanId);
    }
    expect(spans.get("webhook")?.parentSpanId).toBe(spans.get("settlement")?.spanId);
    expect(Number(spans.get("queue")?.endTimeUnixNano)).toBeGreaterThanOrEqual(
      Number(spans.get("queue")?.startTimeUnixNano),
    );
  });

  test("an unsampled trace is respected and passed on", async () => {
    const unsampled = `00-${"cd".repeat(16)}-${parentId}-00`;
    await predict("cog/predict", { headers: { traceparent: unsampled } });
    expect(calls[0]?.headers.traceparent).toBe(unsampled);
    await predict("cog/predict", { headers: { traceparent: "rubbish" } });
    expect(calls[1]?.headers.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(collector.spans.some((span) => span.traceId === "cd".repeat(16))).toBe(false);
  });
});

async function scrape(options: object = { key: metricsKey }): Promise<Map<string, number>> {
  const answer = await gantry.call("GET", "/metrics", options);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const samples = new Map<string, number>();
  for (const line of answer.text.trim().split("\n")) {
    if (line === "" || line.startsWith("# HELP ") || line.startsWith("# TYPE ")) continue;
    const [, name, value] = /^([a-z_:][a-z0-9_:]*(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*\})?) (\S+)$/i.exec(line) ?? [];
    expect(name, line).toBeDefined();
    expect(samples.has(name ?? ""), `twice: ${line}`).toBe(false);
    samples.set(name ?? "", Number(value));
  }
  return samples;
}

describe("GET /metrics", () => {
  test("counts requests and micro-dollars exactly", async () => {
    const before = await scrape();
    slowMs = 300;
    for (let n = 0; n < 3; n++) await predict("cog/predict");
    slowMs = 0;
    await predict("chat/predict/stream");
    await predict("bad/predict");
    await predict("cog/predict", { form: {} });
    await predict("cog/predict", { key: "" });
    await gantry.call("GET", "/no/such/path");
    const accepted = await predict("cog/predict/async", { form: { prompt } });
    await gantry.call(
      "GET",
      `/api/v1/admin/cog/predict/async/result?request_id=${accepted.body.prediction_id}&wait=20`,
      {
        key: userKey,
      },
    );
    const after = await scrape();
    const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    const requests = (method: string, route: string, status: string, surface = "model") =>
      grown(`gantry_http_requests_total{surface="${surface}",method="${method}",route="${route}",status="${status}"}`);
    expect(requests("POST", "/api/v1/:owner/:model/predict", "2xx")).toBe(3);
    expect(requests("POST", "/api/v1/:owner/:model/predict", "4xx")).toBe(2);
    expect(requests("POST", "/api/v1/:owner/:model/predict", "5xx")).toBe(1);
    expect(requests("POST", "/api/v1/:owner/:model/predict/stream", "2xx")).toBe(1);
    expect(requests("GET", "none", "4xx", "none")).toBe(1);
    expect(grown('gantry_predictions_ended_total{outcome="done",type=""}')).toBe(5);
    expect(grown('gantry_predictions_ended_total{outcome="failed",type="downstream_service_error"}')).toBe(1);
    expect(grown("gantry_charged_micros_total")).toBe(50_000);
    expect(grown('gantry_tokens_total{direction="input"}')).toBe(11);
    expect(grown('gantry_tokens_total{direction="output"}')).toBe(7);
    expect(grown('gantry_model_call_seconds_count{backend="cog"}')).toBe(5);
    expect(grown('gantry_model_call_seconds_sum{backend="cog"}')).toBeGreaterThan(0.9);
    expect(grown('gantry_model_call_failures_total{backend="cog",type="downstream_service_error"}')).toBe(1);
    expect(grown('gantry_slot_wait_seconds_count{way="async"}')).toBe(1);
    expect(grown('gantry_batch_items_sum{step="settlement"}')).toBe(6);
    expect(grown('gantry_http_request_seconds_sum{surface="model"}')).toBeGreaterThan(0.9);
    expect(grown('gantry_added_latency_seconds_count{way="sync"}')).toBe(3);
    expect(grown('gantry_added_latency_seconds_sum{way="sync"}')).toBeGreaterThan(0);
    expect(grown('gantry_added_latency_seconds_count{way="stream"}')).toBe(1);
  });

  test("shows the current state", async () => {
    slowMs = 1500;
    const running = predict("cog/predict");
    await waitFor("the call", () => calls.length === 1);
    const samples = await scrape();
    expect(samples.get("gantry_database_up")).toBe(1);
    expect(samples.get("gantry_predictions_held")).toBe(1);
    expect(samples.get('gantry_queue_predictions{state="running"}')).toBe(1);
    expect(samples.get('gantry_queue_predictions{state="waiting"}')).toBe(0);
    expect(samples.get("gantry_queue_jobs")).toBe(0);
    expect(samples.get("gantry_nodes_alive")).toBe(1);
    expect(samples.get("gantry_heartbeat_age_seconds")).toBeLessThan(10);
    expect(samples.get("gantry_webhooks_pending")).toBe(0);
    expect(samples.get("gantry_worker_slots")).toBe(64);
    expect(samples.get('gantry_database_connections{state="idle"}')).toBeGreaterThanOrEqual(0);
    expect(samples.get('gantry_database_connections{state="busy"}')).toBeGreaterThanOrEqual(0);
    expect(samples.get("gantry_database_queries_waiting")).toBe(0);
    expect(samples.get(`gantry_info{version="${manifest.version}",role="all"}`)).toBe(1);
    const [postgres] = [...samples.keys()].filter((name) => name.startsWith("gantry_postgres_info"));
    expect(postgres).toMatch(/^gantry_postgres_info\{version="18\.\d+",embedded="false"\}$/);
    expect(samples.get("nodejs_eventloop_lag_p99_seconds")).toBeGreaterThanOrEqual(0);
    expect(samples.get("process_resident_memory_bytes")).toBeGreaterThan(1e6);
    await running;
  });

  test("contains no ids, names or paths", async () => {
    await predict("cog/predict");
    await gantry.call("GET", "/api/v1/admin/cog/predict/async/result?request_id=pred_00000000000000000000000000");
    await gantry.call("GET", "/looks/like/tracy/and/pred_123");
    const names = [...(await scrape()).keys()].join("\n");
    expect(names).not.toMatch(/tracy|pred_|usr_|key_|admin.(cog|chat|bad)|looks/);
  });

  test("is only for the operator", async () => {
    const asked = async (options: object, path = "/metrics") => (await gantry.call("GET", path, options)).status;
    expect(await asked({ key: "" })).toBe(401);
    expect(await asked({ key: "gk_000000000000_wrong" })).toBe(401);
    expect(await asked({ key: userKey })).toBe(403);
    const narrowed = await gantry.call("POST", "/api/v2/keys", { json: { monthly_limit: 5 } });
    expect(await asked({ key: narrowed.body.key })).toBe(403);
    expect(await asked({ key: gantry.adminKey })).toBe(200);
    expect(await asked({ key: "", headers: { authorization: `Bearer ${metricsKey}` } })).toBe(200);
    expect(await asked({ key: metricsKey }, "/api/v2/me")).toBe(401);
    expect((await gantry.call("POST", "/metrics")).status).toBe(405);
  });

  test("is public if the operator allows it", async () => {
    const open = await startGantry({ env: { GANTRY_METRICS_OPEN: "1" } });
    try {
      expect((await open.call("GET", "/metrics", { key: "" })).status).toBe(200);
    } finally {
      await open.close();
    }
  });
});
