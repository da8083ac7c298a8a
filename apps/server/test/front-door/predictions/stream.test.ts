import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { type ChatServer, startChatServer } from "../../support/chat-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, createModels, object, text } from "../../support/models.ts";
import { readStream } from "../../support/read-stream.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let chat: ChatServer;

const manifest = (url: string, change: object = {}) =>
  chatModel(url, {
    timeout_seconds: 30,
    model_size_in_billions: 7,
    pricing: { per_million_input_tokens: 100, per_million_output_tokens: 1000, per_request: 0.5 },
    input: object({ prompt: text, max_tokens: { type: "integer" } }, ["prompt"]),
    ...change,
  });

beforeAll(async () => {
  chat = await startChatServer();
  gantry = await startGantry();
  await createModels(gantry, {
    chat: manifest(chat.url),
    one: manifest(chat.url, { capacity: 1 }),
    brief: manifest(chat.url, { timeout_seconds: 1 }),
  });
});

afterAll(async () => {
  expect(await verifyLedger(gantry.database)).toEqual([]);
  await gantry.close();
  await chat.close();
});

async function open(
  options: { model?: string; signal?: AbortSignal; form?: Record<string, string>; key?: string } = {},
) {
  const { model = "admin/chat", form = { prompt: "hello there" }, ...rest } = options;
  const before = chat.open;
  const response = await gantry.fetch("POST", `/api/v1/${model}/predict/stream/`, { form, ...rest });
  const events = readStream(response);
  const next = async () => (await events.next()).value;
  return { response, events, next, untilUpstream: () => waitFor("the upstream call", () => chat.open > before) };
}

const usageOf = async (id: string) => {
  await waitFor(
    "the usage row",
    async () => (await gantry.call("GET", "/api/v2/usage")).body.results[0]?.request_id === id,
  );
  return (await gantry.call("GET", "/api/v2/usage")).body.results[0];
};

describe("a stream", () => {
  test("is acknowledged before the upstream's first word, then brings fragments, then counts", async () => {
    const { response, next, events, untilUpstream } = await open();
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    const { prediction_id: id, ...rest } = await next();
    expect(id).toMatch(/^pred_/);
    expect(rest).toEqual({});
    await untilUpstream();
    chat.say("Hé");
    expect(await next()).toEqual({ output_data: { output: ["Hé"] }, status: 200 });
    chat.say("llo \u{1F30A}");
    expect(await next()).toEqual({ output_data: { output: ["llo \u{1F30A}"] }, status: 200 });
    chat.end({ prompt_tokens: 11, completion_tokens: 7 });
    expect(await next()).toEqual({
      output_data: {},
      status: 200,
      stream_details: { input_tokens: 11, output_tokens: 7, model_size_in_billions: 7 },
    });
    expect((await events.next()).done).toBe(true);
    // 11 × 100 + 7 × 1000 micro-dollars and half a dollar for the request.
    expect(await usageOf(id)).toMatchObject({
      route: "stream",
      status: 200,
      input_tokens: 11,
      output_tokens: 7,
      price: 0.5081,
    });
  });

  test("of a model without a streamed output is one content event and an end", async () => {
    const response = await gantry.fetch("POST", "/api/v1/gantry/image/predict/stream/", {
      form: { prompt: "a red boat", size: "1280x720" },
    });
    const events = await Array.fromAsync(readStream(response));
    expect(events).toEqual([
      { prediction_id: expect.any(String) },
      { output_data: { image: expect.stringMatching(/^s3:/) }, status: 200, files: { image: expect.anything() } },
      { output_data: {}, status: 200 },
    ]);
  });

  test("of gantry/text works on a fresh machine", async () => {
    const response = await gantry.fetch("POST", "/api/v1/gantry/text/predict/stream/", {
      form: { prompt: "What is 6 times 7?" },
    });
    const events = await Array.fromAsync(readStream(response));
    const answer = events.flatMap((event) => event.output_data?.output ?? []).join("");
    expect(answer).toContain("42");
    expect(events.at(-1).stream_details).toMatchObject({
      input_tokens: expect.any(Number),
      output_tokens: expect.any(Number),
    });
  });

  test("of anthropic/default uses the operator's server if set, at any address", async () => {
    const other = await startGantry({
      env: { GANTRY_LLM_URL: chat.url, GANTRY_LLM_MODEL: "house-model", GANTRY_ALLOW_PRIVATE_NETWORK: "0" },
    });
    try {
      const call = other.fetch("POST", "/api/v1/anthropic/default/predict/stream/", {
        form: { prompt: "hi", system: "be brief" },
      });
      await waitFor("the upstream call", () => chat.open === 1);
      expect(chat.requests.at(-1)).toMatchObject({
        model: "house-model",
        messages: [
          { role: "system", content: "be brief" },
          { role: "user", content: "hi" },
        ],
      });
      chat.say("hello");
      chat.end({ prompt_tokens: 5, completion_tokens: 1 });
      const events = await Array.fromAsync(readStream(await call));
      expect(events.at(-1).stream_details).toEqual({ input_tokens: 5, output_tokens: 1 });
      // Only the operator's model may call it; other models that name its address may not.
      const calls = chat.requests.length;
      const eve = await other.newUser("eve");
      for (const [owner, key, url] of [
        ["eve", eve, chat.url],
        ["admin", other.adminKey, chat.url],
        ["admin", other.adminKey, "http://127.0.0.1:9"],
      ] as const) {
        const put = await other.call("PUT", `/api/v1/${owner}/inward`, { json: manifest(url), key });
        expect([200, 201]).toContain(put.status);
        const inward = await other.fetch("POST", `/api/v1/${owner}/inward/predict/stream/`, {
          form: { prompt: "x" },
          key,
        });
        expect((await Array.fromAsync(readStream(inward))).at(-1)).toMatchObject({ status: 502 });
      }
      expect(chat.requests).toHaveLength(calls);
    } finally {
      await other.close();
    }
  });

  test("is refused before it starts with an ordinary error", async () => {
    const answer = await gantry.call("POST", "/api/v1/admin/chat/predict/stream/", { form: {} });
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]).toMatchObject({ type: "missing", loc: ["body", "prompt"] });
  });

  test("accepts the user part, and refuses an invalid one", async () => {
    const wrong = await gantry.call("POST", "/api/v1/admin/chat/predict/stream/", {
      form: { prompt: "x", user: "{}" },
    });
    expect(wrong.status).toBe(422);
    expect(wrong.body.detail[0].loc).toEqual(["body", "user", "id"]);
  });

  test("puts high priority first in the model's queue", async () => {
    const first = await open({ model: "admin/one" });
    await first.next();
    await first.untilUpstream();
    const order: string[] = [];
    const wait = async (name: string, form: Record<string, string>) => {
      const stream = await open({ model: "admin/one", form });
      await stream.next();
      const done = (async () => {
        await stream.next();
        order.push(name);
        for await (const _event of stream.events);
      })();
      return { done };
    };
    const ordinary = await wait("ordinary", { prompt: "a" });
    const urgent = await wait("urgent", { prompt: "b", user: JSON.stringify({ id: 7, high_priority: true }) });
    for (let i = 0; i < 3; i++) {
      await waitFor("the next upstream call", () => chat.open === 1);
      chat.say("x");
      chat.end({ prompt_tokens: 1, completion_tokens: 1 });
    }
    await Promise.all([ordinary.done, urgent.done]);
    expect(order).toEqual(["urgent", "ordinary"]);
  });

  test("a cut upstream is an error inside the stream without a charge", async () => {
    const { next, events, untilUpstream } = await open();
    const { prediction_id: id } = await next();
    await untilUpstream();
    chat.say("some");
    await next();
    chat.cut();
    const error = await next();
    expect(error).toEqual({
      detail: [expect.objectContaining({ type: "downstream_service_error", loc: ["body"] })],
      status: 502,
    });
    expect((await events.next()).done).toBe(true);
    expect(await usageOf(id)).toMatchObject({ status: 502, price: 0 });
  });

  test("a time limit is an error inside the stream", async () => {
    const { next } = await open({ model: "admin/brief" });
    await next();
    expect(await next()).toMatchObject({ status: 504, detail: [{ type: "generation_timeout" }] });
  });
});

describe("disconnecting and cancelling", () => {
  test("a disconnect stops the upstream, and produced tokens are charged", async () => {
    const leaving = new AbortController();
    const { next, untilUpstream } = await open({ signal: leaving.signal });
    const { prediction_id: id } = await next();
    await untilUpstream();
    chat.say("one ", "two ", "three ");
    await next();
    leaving.abort();
    await waitFor("the upstream to be closed", () => chat.open === 0);
    const usage = await usageOf(id);
    expect(usage.status).toBe(499);
    expect(usage.output_tokens).toBeGreaterThan(0);
    // Tokens, but not the half dollar of the request.
    expect(usage.price).toBeGreaterThan(0);
    expect(usage.price).toBeLessThan(0.1);
  });

  const spellings: [string, (id: string) => [string, string, object]][] = [
    ["POST multipart prediction_id", (id) => ["POST", "", { form: { prediction_id: id } }]],
    ["PATCH multipart infer_id", (id) => ["PATCH", "", { form: { infer_id: id, prompt: "ignored" } }]],
    ["POST JSON", (id) => ["POST", "", { json: { infer_id: id } }]],
    ["PATCH query", (id) => ["PATCH", `?prediction_id=${id}`, {}]],
  ];

  test.each(spellings)("cancel by %s", async (_name, spell) => {
    const { next, untilUpstream } = await open();
    const { prediction_id: id } = await next();
    await untilUpstream();
    const [method, query, options] = spell(id);
    const answer = await gantry.call(method, `/api/v1/admin/chat/predict/cancel/${query}`, options);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toEqual({ prediction_id: id, status: 499 });
    expect(await next()).toMatchObject({ status: 499, detail: [{ type: "generation_cancelled" }] });
    await waitFor("the upstream to be closed", () => chat.open === 0);
    const again = await gantry.call("POST", "/api/v1/admin/chat/predict/cancel/", { form: { prediction_id: id } });
    expect(again.body).toEqual({ prediction_id: id, status: 499 });
  });

  test("cancel through another node, running and waiting", async () => {
    const second = await startGantry({ beside: gantry });
    try {
      const running = await open({ model: "admin/one" });
      const { prediction_id: runningId } = await running.next();
      await running.untilUpstream();
      const waiting = await open({ model: "admin/one" });
      const { prediction_id: waitingId } = await waiting.next();
      for (const [id, stream] of [
        [waitingId, waiting],
        [runningId, running],
      ] as const) {
        const answer = await second.call("POST", "/api/v1/admin/one/predict/cancel/", { form: { prediction_id: id } });
        expect(answer.body).toEqual({ prediction_id: id, status: 499 });
        expect(await stream.next()).toMatchObject({ status: 499 });
      }
      await waitFor("the upstream to be closed", () => chat.open === 0);
    } finally {
      await second.close();
    }
  });

  test("an ended prediction returns its status; unknown, another user's and another model's are 404; no id is 422", async () => {
    const stream = await open();
    const { prediction_id: id } = await stream.next();
    await stream.untilUpstream();
    chat.say("x");
    chat.end({ prompt_tokens: 1, completion_tokens: 1 });
    for await (const _event of stream.events);
    const cancel = (path: string, options: object) => gantry.call("POST", `/api/v1/${path}/predict/cancel/`, options);
    expect((await cancel("admin/chat", { form: { prediction_id: id } })).body).toEqual({
      prediction_id: id,
      status: 200,
    });
    const other = await gantry.newUser("other");
    for (const answer of [
      await cancel("admin/chat", { form: { prediction_id: id }, key: other }),
      await cancel("admin/one", { form: { prediction_id: id } }),
      await cancel("admin/chat", { form: { prediction_id: "pred_00000000000000000000000000" } }),
      await cancel("admin/chat", { form: { prediction_id: "rubbish" } }),
    ]) {
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual({ detail: "Prediction not found", status_code: 404 });
    }
    expect((await cancel("admin/chat", { form: {} })).status).toBe(422);
  });
});

test("a slow reader slows the upstream down instead of filling memory", async () => {
  const { response, untilUpstream } = await open();
  await untilUpstream();
  const megabyte = "x".repeat(1024 * 1024);
  for (let i = 0; i < 64; i++) chat.say(megabyte);
  await sleep(500);
  // Of 64 MB only the buffers' content was read; the rest waits at the sender.
  expect(chat.buffered()).toBeGreaterThan(40 * 1024 * 1024);
  await response.body?.cancel();
  await waitFor("the upstream to be closed", () => chat.open === 0);
});
