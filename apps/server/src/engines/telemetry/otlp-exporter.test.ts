import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { createNet } from "../net/create-net.ts";
import { type Collector, startCollector } from "./collector.fixture.ts";
import { createOtlpExporter, type OtlpExporter } from "./otlp-exporter.ts";
import type { FinishedSpan } from "./tracer.ts";

const net = createNet({ allowPrivateNetwork: true });
let collector: Collector;
let exporter: OtlpExporter;
const fates = { exported: 0, dropped: 0 };
const troubles: string[] = [];

const open = (change: object = {}) =>
  createOtlpExporter({
    net,
    endpoint: `${collector.url}/`,
    headers: { "x-team": "a b" },
    resource: { "service.name": "gantry-test" },
    onTrouble: (text) => void troubles.push(text),
    onFate: (fate, spans) => {
      fates[fate] += spans;
    },
    everyMs: 20,
    pauseMs: 5,
    ...change,
  });

const span = (change: Partial<FinishedSpan> = {}): FinishedSpan => ({
  context: { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7", sampled: true },
  name: "work",
  kind: "client",
  from: 1_700_000_000_000.25,
  until: 1_700_000_000_001.5,
  attributes: { text: "x", whole: 7, part: 0.5, yes: true, nothing: undefined },
  failure: undefined,
  ...change,
});

beforeAll(async () => {
  collector = await startCollector();
});
beforeEach(() => {
  collector.spans.length = 0;
  collector.bodies.length = 0;
  collector.answers.length = 0;
  troubles.length = 0;
  Object.assign(fates, { exported: 0, dropped: 0 });
});
afterEach(() => exporter.close());
afterAll(async () => {
  await net.close();
  await collector.close();
});

it("sends spans in the format of the protocol", async () => {
  exporter = open();
  exporter.add(span({ failure: "timeout", context: { ...span().context, parentSpanId: "1111111111111111" } }));
  await expect.poll(() => fates.exported).toBe(1);
  expect(collector.headers.at(-1)).toMatchObject({ "content-type": "application/json", "x-team": "a b" });
  expect(collector.spans).toEqual([
    {
      traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
      spanId: "00f067aa0ba902b7",
      parentSpanId: "1111111111111111",
      name: "work",
      kind: 3,
      startTimeUnixNano: "1700000000000250000",
      endTimeUnixNano: "1700000000001500000",
      attributes: { text: "x", whole: 7, part: 0.5, yes: true, "error.type": "timeout" },
      status: { code: 2 },
      resource: { "service.name": "gantry-test" },
    },
  ]);
});

it("retries temporary failures and sends each span once", async () => {
  exporter = open();
  collector.answers.push(503, 429);
  for (let n = 0; n < 3; n++) exporter.add(span());
  await expect.poll(() => fates.exported).toBe(3);
  expect(collector.spans.length).toBe(3);
  expect(troubles).toEqual([]);
});

it("drops refused spans, reports it once, and continues", async () => {
  exporter = open();
  collector.answers.push(400, 400);
  exporter.add(span());
  await expect.poll(() => fates.dropped).toBe(1);
  exporter.add(span());
  await expect.poll(() => fates.dropped).toBe(2);
  expect(troubles.length).toBe(1);
  exporter.add(span());
  await expect.poll(() => fates.exported).toBe(1);
});

it("bounds the waiting spans while the collector is down", async () => {
  exporter = open({ endpoint: "http://127.0.0.1:1", everyMs: 60_000 });
  for (let n = 0; n < 20_000; n++) exporter.add(span());
  // 512 are being sent, 8192 wait.
  expect(fates.dropped).toBe(20_000 - 512 - 8192);
});

it("bounds the text that waits, and that of one call", async () => {
  const content = span({ attributes: { "gen_ai.input.messages": "x".repeat(200_000) } });
  exporter = open({ endpoint: "http://127.0.0.1:1", everyMs: 60_000 });
  for (let n = 0; n < 300; n++) exporter.add(content);
  // 2 MB are being sent, 32 MB wait.
  expect(fates.dropped).toBeGreaterThan(100);
  await exporter.close();
  exporter = open();
  Object.assign(fates, { exported: 0, dropped: 0 });
  for (let n = 0; n < 100; n++) exporter.add(content);
  await expect.poll(() => fates.exported).toBe(100);
  expect(Math.max(...collector.bodies.map(({ length }) => length))).toBeLessThan(2.5e6);
});

it("sends the remaining spans on close", async () => {
  exporter = open({ everyMs: 60_000 });
  for (let n = 0; n < 700; n++) exporter.add(span());
  await exporter.close();
  expect(collector.spans.length).toBe(700);
});
