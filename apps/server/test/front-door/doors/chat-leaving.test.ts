import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Behaviour, beginStream } from "../../../src/engines/models/test-upstreams/text-upstream.ts";
import { eventsOf, useDoorsPlatform } from "../../support/doors-platform.ts";
import { startGantry } from "../../support/gantry.ts";
import { waitFor } from "../../support/wait-for.ts";

/** Clients that leave, upstreams that are slow, and servers that stop. */
const platform = useDoorsPlatform();
const question = [{ role: "user" as const, content: "Tell me about lighthouses in the fog, please." }];
const words = Array.from({ length: 30 }, (_, n) => ` word${n}`);

/** Sends the first words at once, and then nothing. */
const stalling: Behaviour = ({ response, dialect }) => {
  beginStream(response);
  const blocks = dialect.blocks({ text: words, usage: { input: 20, output: 60 } });
  const end = blocks.findLastIndex((block) => block === dialect.textBlock(words.at(-1) ?? ""));
  response.write(
    blocks
      .slice(0, end + 1)
      .map((block) => `${block}\n\n`)
      .join(""),
  );
};

test.each(["native", "translated"] as const)(
  "%s: the upstream stops when the client leaves, who pays for what was produced",
  async (way) => {
    const key = await platform.gantry.newUser(`leaver-${way}`);
    platform[way].play(stalling);
    const leave = new AbortController();
    const json = { model: `admin/${way}`, messages: question, stream: true };
    const response = await platform.gantry.fetch("POST", "/v1/chat/completions", { json, key, signal: leave.signal });
    const reader = response.body?.getReader();
    let text = "";
    while (!text.includes("word29")) text += Buffer.from((await reader?.read())?.value ?? []).toString();
    leave.abort();
    await waitFor("the end of the upstream's call", () => platform[way].brokenOffAt.length === 1);
    const rows = async () => (await platform.gantry.call("GET", "/api/v2/usage", { key })).body.results;
    await waitFor("the usage record", async () => (await rows()).length === 1);
    const [row] = await rows();
    expect(row).toMatchObject({ door: "openai-chat", route: "stream" });
    expect(row.input_tokens).toBeGreaterThan(5);
    expect(row.output_tokens).toBeGreaterThan(29);
    expect(row.price).toBeGreaterThan(0);
  },
);

test.each(["native", "translated"] as const)(
  "%s: a client that leaves before the answer stops the upstream too",
  async (way) => {
    platform[way].play(() => {});
    const leave = new AbortController();
    const json = { model: `admin/${way}`, messages: question };
    const asked = platform.gantry.fetch("POST", "/v1/chat/completions", { json, signal: leave.signal });
    await waitFor("the upstream's call", () => platform[way].requests.length === 1);
    leave.abort();
    await expect(asked).rejects.toThrow();
    await waitFor("the end of the upstream's call", () => platform[way].brokenOffAt.length === 1);
  },
);

test.each([
  ["/v1/chat/completions", { json: { model: "admin/native", messages: question } }],
  ["/api/v1/admin/native/predict/stream/", { form: { prompt: "Hi" } }],
])("%s: a client that leaves while its model is looked up leaves no call running", async (path, content) => {
  platform.native.play(() => {});
  // What was looked up lately is used without the database.
  await sleep(1_500);
  await platform.gantry.database.transaction(async (tx) => {
    await tx`lock table models in access exclusive mode`;
    const leave = new AbortController();
    const asked = platform.gantry.fetch("POST", path, { ...content, signal: leave.signal });
    await waitFor("the lookup", async () => {
      const waiting = await platform.gantry.database.sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%models%'`;
      return waiting.length > 0;
    });
    leave.abort();
    await expect(asked).rejects.toThrow();
    await sleep(200);
  });
  await sleep(500);
  expect(platform.native.requests.length - platform.native.brokenOffAt.length).toBe(0);
});

test("headers are held for the first byte, and leave after 10 seconds without one", async () => {
  const gate = Promise.withResolvers<void>();
  platform.native.play(async ({ response, dialect }) => {
    await gate.promise;
    response.writeHead(500, { "content-type": "application/json" }).end(dialect.errorBody("broken"));
  });
  const json = { model: "admin/native", messages: question, stream: true };
  const startedAt = performance.now();
  const response = await platform.gantry.fetch("POST", "/v1/chat/completions", { json });
  expect(performance.now() - startedAt).toBeGreaterThan(9_500);
  expect(performance.now() - startedAt).toBeLessThan(15_000);
  expect(response.status).toBe(200);
  expect(response.headers.get("x-gantry-prediction-id")).toMatch(/^pred_/);
  gate.resolve();
  const text = await response.text();
  expect(text).toMatch(/^: waiting\n\n/);
  expect(JSON.parse(eventsOf(text).at(-1) ?? "")).toMatchObject({ error: { type: "server_error" } });
});

test("a slow client slows the upstream down and gets everything", async () => {
  const piece = "x".repeat(1000);
  const chunk = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: piece }, finish_reason: null }] })}\n\n`;
  let waiting = 0;
  platform.native.play(async ({ response }) => {
    beginStream(response);
    for (let n = 0; n < 5_000; n++) {
      if (!response.write(chunk)) {
        waiting += 1;
        await new Promise((resolve) => response.once("drain", resolve));
      }
    }
    response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
  });
  const json = { model: "admin/native", messages: question, stream: true };
  const response = await platform.gantry.fetch("POST", "/v1/chat/completions", { json });
  await sleep(1000);
  const text = await response.text();
  expect(waiting).toBeGreaterThan(0);
  expect(text.split(piece)).toHaveLength(5_001);
  expect(text).toMatch(/data: \[DONE\]\n\n$/);
});

test("a server that stops ends open streams with an error event", async () => {
  const leaves = await startGantry({ beside: platform.gantry, env: { GANTRY_ROLE: "api" } });
  let isClosed = false;
  try {
    platform.native.play(stalling);
    const json = { model: "admin/native", messages: question, stream: true };
    const response = await leaves.fetch("POST", "/v1/chat/completions", { json });
    const reading = response.text();
    await waitFor("the upstream's call", () => platform.native.requests.length === 1);
    await sleep(100);
    isClosed = true;
    const closing = leaves.close();
    const events = eventsOf(await reading);
    await closing;
    expect(JSON.parse(events.at(-1) ?? "")).toMatchObject({
      error: { type: "server_error", code: "service_unavailable" },
    });
    expect(events).not.toContain("[DONE]");
  } finally {
    if (!isClosed) await leaves.close();
  }
});
