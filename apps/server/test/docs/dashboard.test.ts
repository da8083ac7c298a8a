import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { waitFor } from "../support/wait-for.ts";

const deploy = fileURLToPath(new URL("../../../../deploy", import.meta.url));
const read = (...path: string[]) => readFileSync(join(deploy, ...path), "utf8");

interface Metric {
  type: string;
  labels: Set<string>;
}

let gantry: GantryNode;
const receiver = createServer((request, response) => {
  request.resume().on("end", () => response.end());
});
const exposed = new Map<string, Metric>();

/** Reads the metrics of a server that has used every feature. */
async function scrape(): Promise<void> {
  const text = await (await gantry.fetch("GET", "/metrics")).text();
  exposed.clear();
  for (const line of text.split("\n")) {
    const [, name = "", type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (type !== undefined) exposed.set(name, { type, labels: new Set() });
    const sample = /^([a-z_0-9]+)(?:\{(.*)\})? /.exec(line);
    if (!sample) continue;
    const labels = [...(sample[2] ?? "").matchAll(/([a-z_]+)="/g)].map(([, label = ""]) => label);
    for (const label of labels) familyOf(sample[1] ?? "")?.labels.add(label);
  }
}

function familyOf(name: string): Metric | undefined {
  const histogram = exposed.get(name.replace(/_(bucket|sum|count)$/, ""));
  return exposed.get(name) ?? (histogram?.type === "histogram" ? histogram : undefined);
}

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  gantry = await startGantry({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: address } });
  const webhook = JSON.stringify({ url: address });
  const picture = { prompt: "a crane", size: "1280x720" };
  const must = async (status: number, answer: ReturnType<GantryNode["call"]>) => {
    const got = await answer;
    expect(got.status, got.text).toBe(status);
    return got;
  };
  await must(200, gantry.call("POST", "/api/v1/gantry/image/predict", { form: picture }));
  await must(200, gantry.call("POST", "/api/v1/gantry/rules/predict/stream/", { form: { prompt: "hello" } }));
  const text = { type: "string" };
  const object = (name: string) => ({ type: "object", required: [name], properties: { [name]: text } });
  const failing = {
    ...{ title: "failing", description: "Answers nothing useful.", kind: "other", visibility: "private" },
    ...{ capacity: 1, pricing: {}, input: object("prompt"), output: object("output") },
    backend: { type: "cog", url: address },
  };
  await must(201, gantry.call("PUT", "/api/v1/admin/failing", { json: failing }));
  await must(502, gantry.call("POST", "/api/v1/admin/failing/predict", { form: { prompt: "x" } }));
  const poor = await gantry.newUser("poor", { credit: -1 });
  await must(403, gantry.call("POST", "/api/v1/gantry/image/predict", { form: picture, key: poor }));
  const job = await must(
    200,
    gantry.call("POST", "/api/v1/gantry/image/predict/async/", { form: { ...picture, webhook } }),
  );
  const question = `/api/v1/gantry/image/predict/async/result/?request_id=${job.body.prediction_id}&wait=20`;
  await must(200, gantry.call("GET", question));
  const agent = { name: "Greeter", goal: "Say hello.", tools: [], model: "gantry/rules" };
  const { id } = (await must(201, gantry.call("POST", "/v1/agents", { json: agent }))).body;
  await must(200, gantry.call("POST", `/v1/agents/${id}/publish`, { json: {} }));
  const run = await must(201, gantry.call("POST", `/v1/agents/${id}/runs`, { json: { input: {}, wait: 20 } }));
  expect(run.body.phase, run.text).toBe("ended");
  await waitFor("the webhook and a batch of spans to be sent", async () => {
    await scrape();
    return ["gantry_webhook_attempts_total", "gantry_spans_total"].every((name) => exposed.get(name)?.labels.size);
  });
}, 60_000);

afterAll(async () => {
  await gantry?.close();
  receiver.closeAllConnections();
  receiver.close();
});

/** Labels that Prometheus adds, and the bound of a bucket. */
const added = new Set(["job", "instance", "le"]);

function faultsOf(expression: string): string[] {
  const faults: string[] = [];
  const names = [...expression.matchAll(/\b((?:gantry|gen_ai_client|process|nodejs)_[a-z0-9_]+)(?:\{([^}]*)\})?/g)];
  if (names.length === 0) faults.push(`${expression}: has no metric`);
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/,\s*/));
  for (const [, name = "", matchers = ""] of names) {
    const metric = familyOf(name);
    if (!metric) faults.push(`${name} is not exposed`);
    const matched = [...matchers.matchAll(/([a-z_]+)\s*[=!]/g)].map(([, label = ""]) => label);
    for (const label of new Set([...grouped, ...matched]))
      if (metric && !added.has(label) && !metric.labels.has(label)) faults.push(`${name} has no label ${label}`);
    if (/_bucket$/.test(name) !== /histogram_quantile/.test(expression)) faults.push(`${expression}: no histogram`);
    if (metric?.type === "counter" && !/(rate|increase)\(/.test(expression)) faults.push(`${name} only ever grows`);
  }
  return faults;
}

test("every panel of the dashboard uses metrics and labels that a server exposes", () => {
  const { panels } = JSON.parse(read("grafana", "gantry.json")) as { panels: { targets?: { expr: string }[] }[] };
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(expressions.length).toBeGreaterThan(30);
  expect(expressions.flatMap(faultsOf)).toEqual([]);
});

test("alerts and autoscaler rules use metrics and labels that a server exposes", () => {
  const alerts = read("prometheus", "gantry-alerts.yaml")
    .split(/- alert: /)
    .slice(1);
  expect(alerts.length).toBeGreaterThan(5);
  const own = alerts
    .map((alert) => /expr: ((?:.|\n)*?)\n {8}for:/.exec(alert)?.[1] ?? "")
    .filter((expression) => !/^up\{/.test(expression));
  expect(own.length).toBe(alerts.length - 1);
  expect(own.flatMap(faultsOf)).toEqual([]);
  const adapter = read("kubernetes", "prometheus-adapter.yaml");
  const rules = [...adapter.matchAll(/name: \{ as: (\S+) \}\n\s+metricsQuery: (.*)/g)];
  expect(rules.flatMap(([, , rule = ""]) => faultsOf(rule))).toEqual([]);
  // The autoscaler uses exactly the metrics of the adapter.
  const asked = [...read("kubernetes", "autoscaling.yaml").matchAll(/metric: \{ name: (\S+) \}/g)];
  expect(asked.map(([, name]) => name)).toEqual(rules.map(([, name]) => name));
  expect(asked).toHaveLength(2);
});

test("every probe of the manifests uses a route that exists", async () => {
  const files = readdirSync(join(deploy, "kubernetes")).map((name) => read("kubernetes", name));
  const probes = files.flatMap((text) => [...text.matchAll(/httpGet: \{ path: (\S+),/g)].map(([, path = ""]) => path));
  expect(probes).toHaveLength(6);
  for (const path of new Set(probes)) expect((await fetch(gantry.url + path)).status, path).toBe(200);
});

test("panels of the dashboard have a query and fit the grid", () => {
  const { panels } = JSON.parse(read("grafana", "gantry.json")) as {
    panels: {
      id: number;
      type: string;
      title: string;
      targets?: { expr: string }[];
      gridPos: { x: number; w: number };
    }[];
  };
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const { type, title, targets, gridPos } of panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    if (type !== "row")
      expect(
        targets?.every(({ expr }) => /(gantry|gen_ai|process|nodejs)_/.test(expr)),
        title,
      ).toBe(true);
  }
});
