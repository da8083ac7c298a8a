import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type FickleUpstream, startFickleUpstream } from "../../support/fickle-upstream.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { backendAt, backendsAt, putListed, usageOf } from "../../support/listed-backends.ts";
import { cogModel } from "../../support/models.ts";
import {
  eventText,
  type ScriptedAnthropic,
  sendEvents,
  sendJson,
  startScriptedAnthropic,
} from "../../support/scripted-anthropic.ts";

let gantry: GantryNode;
let claude: ScriptedAnthropic;
let gpt: FickleUpstream;
let made = 0;

beforeAll(async () => {
  gantry = await startGantry();
  claude = await startScriptedAnthropic();
  gpt = await startFickleUpstream({ text: "from gpt" });
});
afterAll(async () => {
  await gantry.close();
  await Promise.all([claude.close(), gpt.close()]);
});
beforeEach(() => {
  claude.requests.length = 0;
  gpt.requests.length = 0;
  gpt.behaviour = { text: "from gpt" };
  claude.play = answerAsClaude;
});

const usage = { input_tokens: 7, output_tokens: 3 };
const message = { id: "msg_1", type: "message", role: "assistant", model: "c", stop_sequence: null };
const whole = { ...message, content: [{ type: "text", text: "from claude" }], stop_reason: "end_turn", usage };

function answerAsClaude({ path, body }: { path: string; body: { stream?: boolean } }, response: ServerResponse) {
  if (path.endsWith("/count_tokens")) return sendJson(response, { input_tokens: 42 });
  if (!body.stream) return sendJson(response, whole);
  return sendEvents(
    response,
    eventText(
      { type: "message_start", message: { ...message, content: [], stop_reason: null, usage } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "from claude" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
      { type: "message_stop" },
    ),
  );
}

const ofClaude = (change: object = {}) => ({
  name: "claude",
  type: "anthropic",
  url: claude.url,
  model: "c",
  ...change,
});

async function newModel(backends: readonly object[], change: object = {}): Promise<string> {
  const model = `admin/m${++made}`;
  await putListed(gantry, model, backends, change);
  return model;
}

const ask = (model: string, change: object = {}) =>
  gantry.call("POST", "/v1/messages", {
    json: { model, max_tokens: 50, messages: [{ role: "user", content: "hi" }], unknown_field: 1, ...change },
    headers: { "anthropic-version": "2023-06-01" },
  });

test.each([false, true])("each backend gets the request in its own protocol (stream: %s)", async (stream) => {
  const model = await newModel([ofClaude(), backendAt("gpt", gpt, { priority: 1 })]);
  const native = await ask(model, { stream });
  expect([native.status, native.text]).toEqual([200, expect.stringContaining("from claude")]);
  // A field that Gantry does not know arrives at a backend of the same protocol only.
  expect(claude.requests[0]?.body).toMatchObject({ unknown_field: 1, max_tokens: 50 });
  claude.play = (_, response) => void response.writeHead(529).end("{}");
  const translated = await ask(model, { stream });
  expect([translated.status, translated.text]).toEqual([200, expect.stringContaining("from gpt")]);
  expect(translated.text).toContain(stream ? "message_start" : '"type":"message"');
  expect(gpt.requests[0]).toMatchObject({ messages: [{ role: "user", content: "hi" }], max_tokens: 50 });
  expect(gpt.requests[0]).not.toHaveProperty("unknown_field");
});

test("a native event that was passed on ends the choice", async () => {
  const model = await newModel([ofClaude(), backendAt("gpt", gpt, { priority: 1 })]);
  claude.play = (_, response) => {
    const start = { type: "message_start", message: { ...message, content: [], stop_reason: null, usage } };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(eventText(start), () => response.destroy());
  };
  const answer = await ask(model, { stream: true });
  expect(answer.text).toMatch(/event: message_start[\s\S]*event: error/);
  expect(gpt.requests).toHaveLength(0);
});

test("tokens are counted by the first backend that can", async () => {
  const json = { messages: [{ role: "user", content: "hi" }] };
  const count = async (model: string) =>
    (await gantry.call("POST", "/v1/messages/count_tokens", { json: { ...json, model } })).body.input_tokens;
  const model = await newModel([backendAt("gpt", gpt), ofClaude({ priority: 1 })]);
  expect(await count(model)).toBe(42);
  claude.play = (_, response) => void response.writeHead(503).end("{}");
  const other = await startScriptedAnthropic();
  other.play = (_, response) => sendJson(response, { input_tokens: 43 });
  const two = await newModel([ofClaude(), ofClaude({ name: "other", url: other.url, priority: 1 })]);
  expect(await count(two)).toBe(43);
  await other.close();
});

test("a limit beyond the context window is cut to what is left of it", async () => {
  const model = await newModel([backendAt("gpt", gpt)], { context_window: 2000 });
  expect((await ask(model, { max_tokens: 32_000 })).status).toBe(200);
  const sent = Number(gpt.requests[0]?.max_tokens);
  expect(sent).toBeGreaterThan(1900);
  expect(sent).toBeLessThan(2000);
});

/** A Cog server that answers all predictions with a status. */
async function startCog(answer: () => { status: number; output?: string }) {
  let runs = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      if (request.url === "/health-check") return sendJson(response, { status: "READY" }, 200);
      runs++;
      const { status, output } = answer();
      sendJson(response, output === undefined ? {} : { status: "succeeded", output }, status);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    runs: () => runs,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

test("a container that failed has run: the call is not repeated elsewhere, but others get the next ones", async () => {
  let status = 500;
  const broken = await startCog(() => ({ status, output: undefined }));
  const sound = await startCog(() => ({ status: 200, output: "done" }));
  const { backend: _single, ...manifest } = cogModel("");
  const backends = [
    { name: "broken", type: "cog", url: broken.url },
    { name: "sound", type: "cog", url: sound.url, priority: 1 },
  ];
  const put = (name: string) => gantry.call("PUT", `/api/v1/admin/${name}`, { json: { ...manifest, backends } });
  const predict = (name: string) => gantry.call("POST", `/api/v1/admin/${name}/predict`, { form: { prompt: "x" } });
  await put("cogs");
  for (let n = 0; n < 3; n++) expect((await predict("cogs")).status).toBe(502);
  expect([broken.runs(), sound.runs()]).toEqual([3, 0]);
  expect((await predict("cogs")).body.output_data).toEqual({ output: "done" });
  // Busy is not broken: another one is asked at once, and the circuit stays closed.
  for (const busy of [409, 503]) {
    status = busy;
    await put(`cogs-${busy}`);
    const answer = await predict(`cogs-${busy}`);
    expect(answer.body.output_data).toEqual({ output: "done" });
    expect(await usageOf(gantry, answer.body.prediction_id)).toMatchObject({ backend: "sound" });
    expect((await backendsAt(gantry, `admin/cogs-${busy}`))[0].circuit).toBe("closed");
  }
  await Promise.all([broken.close(), sound.close()]);
});

test("figures of the last hour and day, for the owner and admins", async () => {
  const model = await newModel([backendAt("gpt", gpt, { weight: 2, capacity: 3 }), ofClaude({ priority: 1 })]);
  gpt.behaviour = (n) => (n === 1 ? { status: 503 } : { text: "from gpt", afterMs: 100 });
  for (let n = 0; n < 3; n++) expect((await ask(model)).status).toBe(200);
  await expect.poll(async () => (await backendsAt(gantry, model))[0].last_hour?.calls, { timeout: 15_000 }).toBe(3);
  const [first, second] = await backendsAt(gantry, model);
  expect(first).toMatchObject({ name: "gpt", type: "openai-chat", weight: 2, priority: 0, capacity: 3, running: 0 });
  expect(first.last_day).toMatchObject({ calls: 3, failures: 1 });
  expect(first.last_hour.p50_ms).toBeGreaterThan(80);
  expect(second).toMatchObject({ name: "claude", running: null, last_hour: { calls: 1, failures: 0 } });
  const confined = await gantry.call("POST", "/api/v2/keys", { json: { name: "app", models: [model] } });
  const refused = await gantry.call("GET", `/api/v1/${model}/backends`, { key: confined.body.key });
  expect(refused.status).toBe(403);
  expect((await gantry.call("GET", "/api/v1/admin/unknown/backends")).status).toBe(404);
  expect((await gantry.call("GET", "/api/v1/gantry/image/backends")).body.results).toMatchObject([
    { name: "builtin", circuit: "closed", last_hour: null, running: null },
  ]);
}, 30_000);
