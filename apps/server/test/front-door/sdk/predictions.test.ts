import { openAsBlob } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, type GantryClient, type GantryError, textOf } from "../../../../../packages/sdk/src/index.ts";
import { type CuttableLine, startCuttableLine } from "../../../../../packages/sdk/test/cuttable-line.ts";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { type ChatServer, startChatServer } from "../../support/chat-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, cogModel, createModels, object, text } from "../../support/models.ts";
import { type SlowCog, startSlowCog } from "../../support/slow-cog.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let cog: SlowCog;
let chat: ChatServer;
let line: CuttableLine;
let client: GantryClient;
/** The same server over a connection that can be cut. */
let shaky: GantryClient;

beforeAll(async () => {
  [cog, chat] = await Promise.all([startSlowCog(), startChatServer()]);
  gantry = await startGantry();
  line = await startCuttableLine(gantry.url);
  const slow = cogModel(cog.url, { pricing: { per_request: 0.01 } });
  const chatty = chatModel(chat.url, { pricing: { per_request: 0.01 } });
  const every = {
    prompt: text,
    count: { type: "integer" },
    share: { type: "number" },
    loud: { type: "boolean" },
    tags: { type: "array", items: text },
    options: { type: "object" },
    when: { ...text, format: "date-time" },
    page: { ...text, format: "uri" },
    note: { type: ["string", "null"], default: "none given" },
  };
  await createModels(gantry, {
    slow,
    brief: { ...slow, timeout_seconds: 1 },
    chat: chatty,
    every: { ...chatty, input: object(every, ["prompt"]) },
  });
  client = createClient({ url: `${gantry.url}/`, key: gantry.adminKey });
  shaky = createClient({ url: line.url, key: gantry.adminKey });
});

afterAll(async () => {
  expect(await verifyLedger(gantry.database)).toEqual([]);
  await line.close();
  await gantry.close();
  await Promise.all([cog.close(), chat.close()]);
});

const started = (many = 1) => waitFor("the upstream call", () => cog.open === many);
const speaking = () => waitFor("the upstream call", () => chat.open === 1);
const silent = () => waitFor("the upstream call to be ended", () => chat.open === 0);
const failureOf = (promise: Promise<unknown>): Promise<GantryError> =>
  promise.then(
    () => Promise.reject(new Error("it did not fail")),
    (error) => error,
  );
const picture = () => sharp({ create: { width: 40, height: 30, channels: 3, background: "#2060c0" } }).png();

describe("predict", () => {
  test("returns the output and links to its files, from an image as File, bytes and address", async () => {
    const png = await picture().toBuffer();
    const source = new URL(
      (await client.files.upload("gantry/image", new File([new Uint8Array(png)], "blue.png"))).link.url,
    );
    const input = { prompt: "a quiet harbour", size: "1280x720", watermark: false, image1: null };
    for (const image of [new File([new Uint8Array(png)], "blue.png"), png, source]) {
      const done = await client.predict("gantry/image", { ...input, image });
      expect(done).toMatchObject({ prediction_id: expect.stringMatching(/^pred_/), status: 200 });
      expect(done.output_data.image).toMatch(/^s3:\/\//);
      const response = await client.files.download(done.files.image ?? "");
      expect(await sharp(await response.bytes()).metadata()).toMatchObject({ width: 1280, height: 720 });
    }
  });

  test("sends a file from disk without reading it first", async () => {
    const room = await mkdtemp(join(tmpdir(), "gantry-sdk-"));
    try {
      await writeFile(join(room, "blue.png"), await picture().toBuffer());
      const image = await openAsBlob(join(room, "blue.png"));
      expect((await client.predict("gantry/image", { prompt: "x", size: "1280x720", image })).status).toBe(200);
    } finally {
      await rm(room, { recursive: true });
    }
  });

  test("with an aborted signal is not sent", async () => {
    const signal = AbortSignal.abort(new Error("never wanted"));
    await expect(client.predict("gantry/image", { prompt: "x" }, { signal })).rejects.toThrow("never wanted");
    await expect(client.files.upload("gantry/image", new Blob(["x"]), { signal })).rejects.toThrow("never wanted");
  });

  test("that is aborted stops the upstream call", async () => {
    const leaving = new AbortController();
    const running = failureOf(client.predict("admin/slow", { prompt: "x" }, { signal: leaving.signal }));
    await started();
    leaving.abort(new Error("not needed any more"));
    expect((await running).message).toBe("not needed any more");
    await started(0);
  });

  test("with an idempotencyKey survives a lost answer and runs once", async () => {
    const before = cog.started;
    const running = shaky.predict("admin/slow", { prompt: "x" }, { idempotencyKey: "once" });
    await started();
    line.cut();
    await sleep(100);
    expect(cog.open).toBe(1);
    cog.finishOne();
    const done = await running;
    expect(done.output_data).toEqual({ output: "done" });
    expect(cog.started).toBe(before + 1);
    expect(await client.predict("admin/slow", { prompt: "x" }, { idempotencyKey: "once" })).toEqual(done);
    const other = await failureOf(client.predict("admin/slow", { prompt: "y" }, { idempotencyKey: "once" }));
    expect(other).toMatchObject({ status: 422, type: "idempotency_key_reused", retryable: false });
  });

  test("without one is not repeated when its answer is lost", async () => {
    const before = cog.started;
    const running = failureOf(shaky.predict("admin/slow", { prompt: "x" }));
    await started();
    line.cut();
    expect(await running).toMatchObject({ name: "GantryError", type: "connection_error", status: 0, retryable: true });
    await started(0);
    expect(cog.started).toBe(before + 1);
  });
});

describe("stream", () => {
  test("yields the acknowledgement, the fragments and the counts", async () => {
    const events = client.stream("admin/chat", { prompt: "hello" }, { user: { id: 7, high_priority: true } });
    const { value: first } = await events.next();
    expect(first).toEqual({ prediction_id: expect.stringMatching(/^pred_/) });
    await speaking();
    chat.say("Hé", "llo");
    expect(textOf((await events.next()).value ?? {})).toBe("Hé");
    expect(textOf((await events.next()).value ?? {})).toBe("llo");
    chat.end({ prompt_tokens: 3, completion_tokens: 2 });
    const { value: last } = await events.next();
    expect(last?.stream_details).toMatchObject({ input_tokens: 3, output_tokens: 2 });
    expect((await events.next()).done).toBe(true);
  });

  test("whose iteration ends or whose signal is aborted stops the upstream call", async () => {
    for await (const { prediction_id } of client.stream("admin/chat", { prompt: "hello" })) {
      expect(prediction_id).toMatch(/^pred_/);
      await speaking();
      break;
    }
    await silent();

    const leaving = new AbortController();
    const events = client.stream("admin/chat", { prompt: "hello" }, { signal: leaving.signal });
    await events.next();
    await speaking();
    const next = failureOf(events.next());
    leaving.abort();
    expect((await next).name).toBe("AbortError");
    await silent();
  });

  test("throws upstream errors and cancellation with the prediction's id", async () => {
    const cut = client.stream("admin/chat", { prompt: "hello" });
    const id = (await cut.next()).value?.prediction_id;
    await speaking();
    chat.say("Hel");
    await cut.next();
    chat.cut();
    const failure = await failureOf(cut.next());
    expect(failure).toMatchObject({ status: 502, type: "downstream_service_error", predictionId: id });
    expect([failure.retryable, failure.issues.length, failure.requestId]).toEqual([false, 1, expect.any(String)]);

    const cancelled = client.stream("admin/chat", { prompt: "hello" });
    const { prediction_id = "" } = (await cancelled.next()).value ?? {};
    await speaking();
    expect(await client.cancel("admin/chat", prediction_id)).toEqual({ prediction_id, status: 499 });
    expect(await failureOf(cancelled.next())).toMatchObject({ status: 499, type: "generation_cancelled" });
    await silent();
  });

  test("over a broken connection does not count as ended", async () => {
    const events = shaky.stream("admin/chat", { prompt: "hello" });
    const predictionId = (await events.next()).value?.prediction_id;
    await speaking();
    const next = failureOf(events.next());
    line.cut();
    const requestId = expect.any(String);
    expect(await next).toMatchObject({ type: "connection_error", status: 0, predictionId, requestId });
    await silent();
  });

  test("passes every kind of value to the model unchanged", async () => {
    const input = {
      prompt: 'two\nlines\r\nand a "third", é\u{1F30A}',
      count: 3,
      share: 0.25,
      loud: true,
      tags: ["a\nb", "c"],
      options: { deep: [1, { x: null }] },
      when: new Date("2026-01-31T12:00:00Z"),
      page: new URL("https://example.com/a b"),
      note: null,
    };
    const events = client.stream("admin/every", input);
    await events.next();
    await speaking();
    const { messages, ...sent } = chat.requests.at(-1) ?? {};
    expect(messages).toEqual([{ role: "user", content: input.prompt }]);
    expect(sent).toMatchObject({
      count: 3,
      share: 0.25,
      loud: true,
      tags: input.tags,
      options: input.options,
      when: "2026-01-31T12:00:00.000Z",
      page: "https://example.com/a%20b",
      note: "none given",
    });
    chat.end();
    await Array.fromAsync(events);
  });
});

describe("a queued prediction", () => {
  test("is submitted, read, awaited", async () => {
    const id = await client.submit("admin/slow", { prompt: "x" }, { user: { id: 1 } });
    await started();
    expect((await client.result("admin/slow", id)).infer_details.status).toBe(202);
    expect(await client.flow("admin/slow")).toMatchObject({ messages: 1, messages_unacknowledged: 1 });
    const held = client.result("admin/slow", id, { wait: 20 });
    const waiting = client.waitFor("admin/slow", id);
    cog.finishOne();
    expect((await held).response).toEqual({ output: "done" });
    expect(await waiting).toEqual({
      prediction_id: id,
      status: 200,
      output_data: { output: "done" },
      inference_time: expect.any(Number),
      files: {},
    });
  });

  test("has its webhook called with the given headers and query", async () => {
    const called: unknown[] = [];
    const receiver = createServer((request, response) => {
      called.push([request.method, request.url, request.headers["x-mine"]]);
      request.resume().on("end", () => response.end());
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/ended`;
    try {
      const webhook = { url, headers: { "x-mine": "1" }, query_params: { q: "2" } };
      for (const [input, options] of [
        [{ prompt: "x" }, { webhook }],
        [{ prompt: "x", webhook }, {}],
      ] as const) {
        called.length = 0;
        const id = await client.submit("admin/slow", input, options);
        await started();
        await client.cancel("admin/slow", id);
        await waitFor("the webhook", () => called.length === 1);
        expect(called).toEqual([["POST", "/ended?q=2", "1"]]);
      }
    } finally {
      receiver.closeAllConnections();
      receiver.close();
    }
  });

  test("that fails or is cancelled is thrown by waitFor; aborting waitFor does not cancel it", async () => {
    const late = await client.submit("admin/brief", { prompt: "x" });
    expect(await failureOf(client.waitFor("admin/brief", late))).toMatchObject({
      status: 504,
      type: "generation_timeout",
      retryable: true,
      predictionId: late,
      requestId: expect.any(String),
    });
    const id = await client.submit("admin/slow", { prompt: "x" });
    await started();
    const signal = AbortSignal.timeout(200);
    expect((await failureOf(client.waitFor("admin/slow", id, { signal }))).name).toBe("TimeoutError");
    expect(cog.open).toBe(1);
    expect((await client.cancel("admin/slow", id)).status).toBe(499);
    expect(await failureOf(client.waitFor("admin/slow", id))).toMatchObject({ type: "generation_cancelled" });
  });

  test("is queued once when the answer is lost", async () => {
    let calls = 0;
    const forgetful: typeof fetch = async (...args) => {
      const response = await fetch(...args);
      if (++calls === 1) throw new TypeError("fetch failed");
      return response;
    };
    const other = createClient({ url: gantry.url, key: gantry.adminKey, fetch: forgetful });
    const before = cog.started;
    const id = await other.submit("admin/slow", { prompt: "x" });
    expect(calls).toBe(2);
    await started();
    cog.finishOne();
    await client.waitFor("admin/slow", id);
    expect(cog.started).toBe(before + 1);
    calls = 0;
    const once = createClient({ url: gantry.url, key: gantry.adminKey, fetch: forgetful, retries: 0 });
    expect(await failureOf(once.submit("admin/slow", { prompt: "x" }))).toMatchObject({ type: "connection_error" });
    expect(calls).toBe(1);
    await started();
    cog.finishOne();
  });

  test("is followed over an unreliable connection, each event once", async () => {
    const id = await client.submit("admin/chat", { prompt: "x" });
    await speaking();
    chat.say("one ");
    let said = "";
    const types: string[] = [];
    const following = (async () => {
      for await (const event of shaky.follow("admin/chat", id)) {
        said += textOf(event);
        types.push(event.prediction_id ? "ack" : event.stream_details ? "end" : "piece");
      }
    })();
    await waitFor("the first piece", () => said === "one ");
    const before = line.connections;
    line.cut();
    chat.say("two ");
    await waitFor("the second piece", () => said === "one two ");
    expect(line.connections).toBeGreaterThan(before);
    chat.say("three");
    chat.end({ prompt_tokens: 1, completion_tokens: 3 });
    await following;
    expect(said).toBe("one two three");
    expect([types.filter((type) => type === "ack").length, types.at(-1)]).toEqual([1, "end"]);
    expect((await Array.fromAsync(client.follow("admin/chat", id))).map(textOf).join("")).toBe(said);
    expect((await client.waitFor("admin/chat", id)).output_data).toEqual({ output: said });
  });

  test("that was cancelled is thrown by follow at once; aborting follow does not cancel it", async () => {
    const id = await client.submit("admin/chat", { prompt: "x" });
    await speaking();
    for await (const _ of client.follow("admin/chat", id)) break;
    expect(chat.open).toBe(1);
    const events = client.follow("admin/chat", id);
    await events.next();
    await client.cancel("admin/chat", id);
    expect(await failureOf(events.next())).toMatchObject({ status: 499, type: "generation_cancelled" });
    expect(await failureOf(client.follow("admin/chat", "pred_none").next())).toMatchObject({ status: 404 });
  });
});
