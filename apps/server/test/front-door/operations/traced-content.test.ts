import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type CollectedSpan,
  type Collector,
  startCollector,
} from "../../../src/engines/telemetry/collector.fixture.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { agentModel, createModels } from "../../support/models.ts";
import { schedulesOf } from "../../support/schedules.ts";
import { type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

// The settings of the page on monitoring, with a collector at the place of Langfuse.
const publicKey = "pk-lf-1";
const secretKey = "sk-lf-2";
const basic = `Basic ${Buffer.from(`${publicKey}:${secretKey}`).toString("base64")}`;

let collector: Collector;
let llm: ScriptedLlm;
let gantry: GantryNode;
let target: string;
const receiver = createServer((_request, response) => void response.end("answer-of-the-tool"));

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  [collector, llm] = await Promise.all([startCollector("/api/public/otel"), startScriptedLlm()]);
  gantry = await startGantry({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `Authorization=${encodeURIComponent(basic)},x-langfuse-ingestion-version=4`,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
      OTEL_METRICS_EXPORTER: "otlp",
      GANTRY_TRACE_URL: "https://traces.example/trace/{trace_id}",
      GANTRY_METRICS_OPEN: "1",
    },
  });
  await createModels(gantry, { llm: agentModel(llm.url, { pricing: {} }) });
});
afterAll(async () => {
  await Promise.all([collector.close(), llm.close()]);
  receiver.closeAllConnections();
  receiver.close();
});

async function spanOf(what: string, isIt: (span: CollectedSpan) => boolean): Promise<CollectedSpan> {
  await waitFor(what, () => collector.spans.some(isIt));
  return collector.spans.find(isIt) as CollectedSpan;
}

const modelCallOf = (id: string | null) =>
  spanOf(
    "the model call",
    ({ name, attributes }) => name.startsWith("chat ") && attributes["gantry.prediction_id"] === id,
  );
const json = ({ attributes }: CollectedSpan, name: string) => JSON.parse(String(attributes[name]));
const textOf = (content: string) => [{ type: "text", content }];

test("work that no request began has traces: runs of schedules and lines of batches", async () => {
  llm.script = () => ({ text: "done" });
  const agent = { name: "Early", goal: "Say hello.", tools: [], model: "admin/llm" };
  const { id: agentId } = (await gantry.call("POST", "/v1/agents", { json: agent })).body;
  await gantry.call("POST", `/v1/agents/${agentId}/publish`, { json: {} });
  const { create, makeDue } = schedulesOf(() => gantry);
  const schedule = await create(agentId);
  await makeDue(schedule.id);
  const root = await spanOf("the schedule", ({ attributes }) => attributes["gantry.schedule_id"] === schedule.id);
  expect([root.name, root.parentSpanId]).toEqual(["schedule", undefined]);
  await spanOf("its model call", ({ name, traceId }) => name.startsWith("chat ") && traceId === root.traceId);

  const body = { model: "admin/llm", input: "of-a-batch" };
  const line = JSON.stringify({ custom_id: "1", method: "POST", url: "/v1/responses", body });
  const form = { purpose: "batch", file: new Blob([line]) };
  const input = (await gantry.call("POST", "/v1/files", { form })).body.id;
  const json = { input_file_id: input, endpoint: "/v1/responses", completion_window: "24h" };
  const { id } = (await gantry.call("POST", "/v1/batches", { json })).body;
  const ofLine = await spanOf("the line", ({ attributes }) => attributes["gantry.batch_id"] === id);
  expect(ofLine.parentSpanId).toBeUndefined();
  const span = await modelCallOf(String(ofLine.attributes["gantry.prediction_id"]));
  expect([span.traceId, String(span.attributes["gen_ai.input.messages"])]).toEqual([
    ofLine.traceId,
    expect.stringContaining("of-a-batch"),
  ]);
});

test("a stream has its prompt, instructions and answer in its span, and its trace in its record", async () => {
  llm.script = () => ({ text: "the-answer" });
  const messages = [
    { role: "system", content: "the-instructions" },
    { role: "user", content: "the-prompt" },
  ];
  const answer = await gantry.call("POST", "/v1/chat/completions", {
    json: { model: "admin/llm", messages, stream: true },
  });
  expect(answer.status, answer.text).toBe(200);
  const id = answer.headers.get("x-gantry-prediction-id");
  const span = await modelCallOf(id);
  expect(json(span, "gen_ai.input.messages")).toEqual([{ role: "user", parts: textOf("the-prompt") }]);
  expect(json(span, "gen_ai.system_instructions")).toEqual(textOf("the-instructions"));
  expect(json(span, "gen_ai.output.messages")).toEqual([
    { role: "assistant", parts: textOf("the-answer"), finish_reason: "stop" },
  ]);
  expect(collector.headers.at(-1)).toMatchObject({ authorization: basic, "x-langfuse-ingestion-version": "4" });
  const { body } = await gantry.call("GET", `/api/v2/predictions/${id}`);
  expect(body.trace_id).toBe(span.traceId);
});

test("a queued conversation of a door has its content too", async () => {
  llm.script = () => ({ text: "later" });
  const body = { model: "admin/llm", input: "ask-later", background: true };
  const accepted = await gantry.call("POST", "/v1/responses", { json: body });
  expect(accepted.body, accepted.text).toMatchObject({ status: "queued" });
  const isLater = ({ attributes }: CollectedSpan) => String(attributes["gen_ai.input.messages"]).includes("ask-later");
  const span = await spanOf("the queued call", isLater);
  expect(json(span, "gen_ai.output.messages")[0].parts).toEqual(textOf("later"));
});

test("calls whose input is not kept have no content in their spans", async () => {
  llm.script = () => ({ text: "secret-answer" });
  const { body: key } = await gantry.call("POST", "/api/v2/keys", { json: { name: "quiet", keep_inputs: false } });
  const answer = await gantry.call("POST", "/api/v1/admin/llm/predict/stream", {
    key: key.key,
    form: { prompt: "secret-prompt" },
  });
  const span = await modelCallOf(answer.headers.get("x-prediction-id"));
  expect(span.attributes).toMatchObject({ "gen_ai.response.finish_reasons": ["stop"] });
  expect(collector.bodies.join()).not.toMatch(/secret-(?:prompt|answer)/);
});

test("a run has tool calls with arguments and results, and its trace in its record", async () => {
  llm.script = ({ messages }) =>
    messages.some(({ role }) => role === "tool")
      ? { text: "done" }
      : {
          calls: [{ name: "http_request", args: { method: "GET", url: `${target}?a=argument-of-the-tool` } }],
        };
  const agent = { name: "Traced", goal: "Do it.", tools: ["http_request"], model: "admin/llm" };
  const { body: made } = await gantry.call("POST", "/v1/agents", { json: agent });
  expect((await gantry.call("POST", `/v1/agents/${made.id}/publish`, { json: {} })).status).toBe(200);
  const { body: run } = await gantry.call("POST", `/v1/agents/${made.id}/runs`, { json: { input: {}, wait: 20 } });
  expect(run).toMatchObject({ status: "done", trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
  const ofRun = ({ traceId }: CollectedSpan) => traceId === run.trace_id;
  const tool = await spanOf("the tool", (span) => ofRun(span) && span.name === "execute_tool http_request");
  expect(tool.attributes["gen_ai.tool.call.arguments"]).toContain("argument-of-the-tool");
  expect(tool.attributes["gen_ai.tool.call.result"]).toContain("answer-of-the-tool");
  const call = await spanOf("a model call", (span) => ofRun(span) && span.name.startsWith("chat "));
  expect(call.attributes).toMatchObject({
    "gantry.run_id": run.id,
    "gen_ai.response.finish_reasons": ["tool_call"],
  });
});

test("durations and tokens of model calls are in /metrics, and reach the collector when the server stops", async () => {
  const text = await (await gantry.fetch("GET", "/metrics")).text();
  expect(text).toMatch(
    /gen_ai_client_operation_duration_seconds_count\{gen_ai_operation_name="chat",[^}]*error_type=""\} \d/,
  );
  expect(text).toMatch(/gen_ai_client_token_usage_sum\{[^}]*gen_ai_token_type="output"\} \d/);
  await gantry.close();
  const sent = collector.metrics.at(-1)?.resourceMetrics[0]?.scopeMetrics[0]?.metrics ?? [];
  expect(sent.map(({ name, unit }) => [name, unit])).toEqual([
    ["gen_ai.client.operation.duration", "s"],
    ["gen_ai.client.token.usage", "{token}"],
  ]);
  for (const { histogram } of sent) {
    expect(histogram.aggregationTemporality).toBe(2);
    for (const { attributes, bucketCounts, explicitBounds, count } of histogram.dataPoints) {
      expect(attributes.map(({ key }) => key)).toContain("gen_ai.request.model");
      expect(attributes.map(({ key }) => key)).not.toContain("error.type");
      expect(bucketCounts).toHaveLength(explicitBounds.length + 1);
      expect(bucketCounts.reduce((sum, one) => sum + Number(one), 0)).toBe(Number(count));
    }
  }
});
