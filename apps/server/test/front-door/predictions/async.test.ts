import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import sharp from "sharp";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { type ChatServer, startChatServer } from "../../support/chat-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, cogModel, createModels } from "../../support/models.ts";
import { type SlowCog, startSlowCog } from "../../support/slow-cog.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let cog: SlowCog;
let chat: ChatServer;

const slow = (change: object = {}) => cogModel(cog.url, { capacity: 2, pricing: { per_request: 0.01 }, ...change });

beforeAll(async () => {
  [cog, chat] = await Promise.all([startSlowCog(), startChatServer()]);
  gantry = await startGantry();
  await createModels(gantry, {
    slow: slow(),
    one: slow({ capacity: 1 }),
    brief: slow({ timeout_seconds: 1 }),
    impatient: slow({ capacity: 1, max_queue_seconds: 1 }),
    chat: chatModel(chat.url, { capacity: 2, pricing: { per_request: 0.01 } }),
  });
});

afterAll(async () => {
  expect(await verifyLedger(gantry.database)).toEqual([]);
  await gantry.close();
  await Promise.all([cog.close(), chat.close()]);
});

const accept = async (model: string, form: Record<string, string | Blob> = { prompt: "x" }, options: object = {}) => {
  const answer = await gantry.call("POST", `/api/v1/${model}/predict/async/`, { form, ...options });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.prediction_id as string;
};
const result = async (model: string, id: string, query = "", options: object = {}) =>
  gantry.call("GET", `/api/v1/${model}/predict/async/result/?request_id=${id}${query}`, options);
const itemOf = async (model: string, id: string) => (await result(model, id, "&wait=20")).body.inference_responses[0];

describe("a queued prediction", () => {
  test("is accepted with its addresses, then pending, then done, by GET and POST", async () => {
    const answer = await gantry.call("POST", "/api/v1/admin/slow/predict/async/", { form: { prompt: "x" } });
    const id = answer.body.prediction_id;
    expect(answer.body).toEqual({
      prediction_id: expect.stringMatching(/^pred_/),
      status: 202,
      result_url: `${gantry.url}/api/v1/admin/slow/predict/async/result/?request_id=${id}`,
      cancel_url: `${gantry.url}/api/v1/admin/slow/predict/cancel/?prediction_id=${id}`,
    });
    await waitFor("the upstream call", () => cog.open === 1);
    const pending = await result("admin/slow", id);
    expect(pending.body.inference_responses[0]).toMatchObject({
      infer_details: { status: 202, request_id: id },
      response: {},
    });
    const waiting = result("admin/slow", id, "&wait=20");
    cog.finishOne();
    const me = await gantry.call("GET", "/api/v2/me");
    expect((await waiting).body).toEqual({
      inference_responses: [
        {
          infer_details: {
            status: 200,
            user_id: me.body.id,
            request_id: id,
            inference_time: expect.any(Number),
            stream_details: null,
          },
          response: { output: "done" },
          files: {},
        },
      ],
    });
    const posted = await gantry.call("POST", `/api/v1/admin/slow/predict/async/result?request_id=${id}`);
    expect(posted.body.inference_responses[0].response).toEqual({ output: "done" });
  });

  test("draws a picture from an inline image, and its files have links", async () => {
    const red = await sharp({ create: { width: 3000, height: 2000, channels: 3, background: "#c00" } })
      .png()
      .toBuffer();
    const id = await accept("gantry/image", { prompt: "a lake", size: "1280x720", image: new File([red], "red.png") });
    const item = await itemOf("gantry/image", id);
    expect(item.infer_details.status).toBe(200);
    const picture = await fetch(item.files.image.url);
    expect(await sharp(await picture.bytes()).metadata()).toMatchObject({ width: 1280, height: 720 });
  });

  test("fails with its error body, and a time limit is 504", async () => {
    const id = await accept("admin/brief");
    const item = await itemOf("admin/brief", id);
    expect(item.infer_details.status).toBe(504);
    expect(item.response.detail[0]).toMatchObject({
      type: "generation_timeout",
      url: expect.stringContaining(gantry.url),
    });
  });

  test("that waits too long ends as 504", async () => {
    const first = await accept("admin/impatient");
    await waitFor("the first upstream call", () => cog.open === 1);
    const second = await accept("admin/impatient");
    expect((await itemOf("admin/impatient", second)).infer_details.status).toBe(504);
    cog.finishOne();
    expect((await itemOf("admin/impatient", first)).infer_details.status).toBe(200);
  });

  test("is cancelled while it waits and while it runs", async () => {
    const running = await accept("admin/one");
    await waitFor("the upstream call", () => cog.open === 1);
    const waiting = await accept("admin/one");
    for (const id of [waiting, running]) {
      const answer = await gantry.call("POST", `/api/v1/admin/one/predict/cancel/?prediction_id=${id}`);
      expect(answer.body).toEqual({ prediction_id: id, status: 499 });
      expect((await itemOf("admin/one", id)).response.detail[0].type).toBe("generation_cancelled");
    }
    await waitFor("the upstream call to be closed", () => cog.open === 0);
  });

  test("404 for an unknown id, another user's and another model's path; 422 without an id or with an invalid wait", async () => {
    const id = await accept("admin/slow");
    await waitFor("the upstream call", () => cog.open === 1);
    cog.finishOne();
    const other = await gantry.newUser("reader");
    for (const answer of [
      await result("admin/slow", "pred_00000000000000000000000000"),
      await result("admin/slow", "rubbish"),
      await result("admin/slow", id, "", { key: other }),
      await result("admin/one", id),
    ]) {
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual({ detail: "Prediction not found", status_code: 404 });
    }
    expect((await gantry.call("GET", "/api/v1/admin/slow/predict/async/result/")).status).toBe(422);
    expect((await result("admin/slow", id, "&wait=61")).body.detail[0].type).toBe("less_than_equal");
    expect((await result("admin/slow", id, "&wait=soon")).body.detail[0].type).toBe("float_parsing");
  });

  test("a result of the sync route can be fetched too", async () => {
    const call = gantry.call("POST", "/api/v1/admin/slow/predict", { form: { prompt: "x" } });
    await waitFor("the upstream call", () => cog.open === 1);
    cog.finishOne();
    const { prediction_id: id } = (await call).body;
    expect((await itemOf("admin/slow", id)).response).toEqual({ output: "done" });
  });

  test("continues after its model is retired, at the accepted price", async () => {
    await gantry.call("PUT", "/api/v1/admin/passing", { json: slow({ capacity: 1 }) });
    const ids = [await accept("admin/passing"), await accept("admin/passing")];
    await waitFor("the upstream call", () => cog.open === 1);
    await gantry.call("PATCH", "/api/v1/admin/passing", { json: { pricing: { per_request: 5 } } });
    await gantry.call("DELETE", "/api/v1/admin/passing");
    for (let i = 0; i < 2; i++) {
      await waitFor("the upstream call", () => cog.open === 1);
      cog.finishOne();
    }
    await waitFor("both to be charged", async () => {
      const usage = await gantry.call("GET", "/api/v2/usage");
      return ids.every((id) =>
        usage.body.results.some(
          (row: { request_id: string; price: number }) => row.request_id === id && row.price === 0.01,
        ),
      );
    });
  });
});

describe("JSON lines", () => {
  test("live from another node, then replayed", async () => {
    const reader = await startGantry({ beside: gantry, env: { GANTRY_ROLE: "api" } });
    try {
      const id = await accept("admin/chat");
      await waitFor("the upstream call", () => chat.open === 1);
      const response = await reader.fetch("GET", `/api/v1/admin/chat/predict/async/result/?request_id=${id}`, {
        headers: { accept: "application/x-ndjson" },
      });
      const lines = readLines(response);
      expect((await lines.next()).value).toEqual({ prediction_id: id });
      chat.say("Hello ", "live ");
      expect((await lines.next()).value).toEqual({ output_data: { output: ["Hello live "] }, status: 200 });
      chat.say("world");
      chat.end({ prompt_tokens: 3, completion_tokens: 4 });
      expect(await Array.fromAsync(lines)).toEqual([
        { output_data: { output: ["world"] }, status: 200 },
        { output_data: {}, status: 200, stream_details: { input_tokens: 3, output_tokens: 4 } },
      ]);
      const replay = await gantry.call("GET", `/api/v1/admin/chat/predict/async/result/?request_id=${id}`, {
        headers: { accept: "application/x-ndjson" },
      });
      const replayed = replay.text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(replayed.flatMap((event) => event.output_data?.output ?? []).join("")).toBe("Hello live world");
      expect((await itemOf("admin/chat", id)).response).toEqual({ output: "Hello live world" });
      expect(await gantry.database.sql`select 1 from prediction_fragments`).toEqual([]);
    } finally {
      await reader.close();
    }
  });

  test("directly from the accept route; a disconnect does not cancel", async () => {
    const leaving = new AbortController();
    const response = await gantry.fetch("POST", "/api/v1/admin/chat/predict/async/", {
      form: { prompt: "x" },
      headers: { accept: "application/x-ndjson" },
      signal: leaving.signal,
    });
    const lines = readLines(response);
    const { prediction_id: id } = (await lines.next()).value;
    await waitFor("the upstream call", () => chat.open === 1);
    leaving.abort();
    await sleep(200);
    expect(chat.open).toBe(1);
    chat.say("still here");
    chat.end({ prompt_tokens: 1, completion_tokens: 2 });
    expect((await itemOf("admin/chat", id)).response).toEqual({ output: "still here" });
  });

  test("an unknown id is an ordinary 404", async () => {
    const answer = await result("admin/chat", "pred_00000000000000000000000000", "", {
      headers: { accept: "application/x-ndjson" },
    });
    expect(answer.status).toBe(404);
  });

  // biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
  async function* readLines(response: Response): AsyncGenerator<any> {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      rest += decoder.decode(chunk, { stream: true });
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield JSON.parse(line);
    }
  }
});

describe("fairness, priority and limits", () => {
  test("one user's many predictions do not starve another user's, and high priority goes first", async () => {
    const [crowd, single] = [await gantry.newUser("crowd"), await gantry.newUser("single")];
    const crowded: string[] = [];
    for (let i = 0; i < 8; i++) crowded.push(await accept("admin/one", { prompt: `c${i}` }, { key: crowd }));
    await waitFor("the first upstream call", () => cog.open === 1);
    const alone = await accept("admin/one", { prompt: "s" }, { key: single });
    const urgent = await accept("admin/one", { prompt: "u", user: '{"id": 1, "high_priority": true}' }, { key: crowd });
    const order: string[] = [];
    for (let i = 0; i < 10; i++) {
      await waitFor("the next upstream call", () => cog.open === 1);
      const [row] = await gantry.database.sql<
        { id: string }[]
      >`select id from live_predictions where started_at is not null`;
      order.push(row?.id ?? "");
      cog.finishOne();
      await waitFor(
        "that one to end",
        async () =>
          (await gantry.database.sql`select 1 from live_predictions where id = ${row?.id ?? ""}`).length === 0,
      );
    }
    expect(order[1]).toBe(urgent);
    expect(order[2]).toBe(alone);
    expect(order.filter((id) => crowded.includes(id))).toEqual(crowded);
  });

  test("queued predictions wait for the parallel limit instead of being refused", async () => {
    await gantry.call("PUT", "/api/v1/admin/wide", { json: slow({ capacity: 50 }) });
    const key = await gantry.newUser("limited", { plan: "free" });
    const ids = [];
    for (let i = 0; i < 6; i++) ids.push(await accept("admin/wide", { prompt: "x" }, { key }));
    await waitFor("four upstream calls", () => cog.open === 4);
    await sleep(200);
    expect(cog.open).toBe(4);
    const refused = await gantry.call("POST", "/api/v1/admin/wide/predict", { form: { prompt: "x" }, key });
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({ detail: expect.any(String), status_code: 429, type: "concurrent_requests_limit" });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    for (let i = 0; i < 6; i++) {
      await waitFor("an upstream call", () => cog.open > 0);
      expect(cog.open).toBeLessThanOrEqual(4);
      cog.finishOne();
    }
    await waitFor("all to end", async () => {
      const usage = await gantry.call("GET", "/api/v2/usage", { key });
      return usage.body.total_count === 6;
    });
  });

  test("queue figures are correct while jobs wait, run and end", async () => {
    const flow = async () => (await gantry.call("GET", "/api/v1/admin/one/flow")).body;
    const before = await flow();
    expect(before).toMatchObject({ messages: 0, messages_ready: 0, messages_unacknowledged: 0 });
    const ids = [await accept("admin/one"), await accept("admin/one"), await accept("admin/one")];
    await waitFor("the upstream call", () => cog.open === 1);
    const during = await flow();
    expect(during).toMatchObject({ messages: 3, messages_ready: 2, messages_unacknowledged: 1 });
    // Each node records its figures once a second.
    const arrived = before.ingress_rate + 3 / 60 - 0.001;
    await waitFor("the arrivals", async () => (await flow()).ingress_rate >= arrived);
    for (const _id of ids) {
      await waitFor("the upstream call", () => cog.open === 1);
      cog.finishOne();
    }
    await waitFor("the queue to be empty", async () => (await flow()).messages === 0);
    await waitFor("the ends", async () => (await flow()).egress_rate >= 3 / 60 - 0.001);
  });
});

describe("Idempotency-Key", () => {
  const withKey = (key: string) => ({ headers: { "idempotency-key": key } });

  test("a repeat of an accepted job is the same job; other fields are refused", async () => {
    const startedBefore = cog.started;
    const [first, second] = await Promise.all([
      accept("admin/slow", { prompt: "same" }, withKey("k1")),
      accept("admin/slow", { prompt: "same" }, withKey("k1")),
    ]);
    expect(second).toBe(first);
    const other = await gantry.call("POST", "/api/v1/admin/slow/predict/async/", {
      form: { prompt: "other" },
      ...withKey("k1"),
    });
    expect(other.status).toBe(422);
    expect(other.body.detail[0].type).toBe("idempotency_key_reused");
    await waitFor("the upstream call", () => cog.open === 1);
    cog.finishOne();
    await itemOf("admin/slow", first);
    expect(await accept("admin/slow", { prompt: "same" }, withKey("k1"))).toBe(first);
    expect(cog.started - startedBefore).toBe(1);
  });

  test("a sync prediction with a key survives a disconnect, and the repeat fetches it", async () => {
    const leaving = new AbortController();
    const sync = (signal?: AbortSignal) =>
      gantry.call("POST", "/api/v1/admin/slow/predict", {
        form: { prompt: "sync" },
        ...withKey("k2"),
        ...(signal && { signal }),
      });
    const first = sync(leaving.signal);
    await waitFor("the upstream call", () => cog.open === 1);
    leaving.abort();
    await expect(first).rejects.toThrow();
    const repeat = sync();
    await sleep(100);
    expect(cog.open).toBe(1);
    cog.finishOne();
    const answer = await repeat;
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.output_data).toEqual({ output: "done" });
    expect((await sync()).body).toEqual(answer.body);
  });

  test("refused, cancelled and retryable outcomes release the key", async () => {
    const poor = await gantry.newUser("penniless", { credit: -1 });
    const refused = await gantry.call("POST", "/api/v1/admin/slow/predict/async/", {
      form: { prompt: "x" },
      key: poor,
      ...withKey("k3"),
    });
    expect(refused.status).toBe(403);
    await gantry.call("POST", "/api/v2/admin/users/penniless/credits", { json: { amount: 5, reason: "now" } });
    const id = await accept("admin/slow", { prompt: "x" }, { key: poor, ...withKey("k3") });
    await gantry.call("POST", `/api/v1/admin/slow/predict/cancel/?prediction_id=${id}`, { key: poor });
    const again = await accept("admin/slow", { prompt: "x" }, { key: poor, ...withKey("k3") });
    expect(again).not.toBe(id);
    await gantry.call("POST", `/api/v1/admin/slow/predict/cancel/?prediction_id=${again}`, { key: poor });
    await waitFor("the upstream calls to be closed", () => cog.open === 0);
  });
});

describe("a webhook", () => {
  test("reports the end of a job, signed, also for a failure", async () => {
    const received: { headers: IncomingMessage["headers"]; body: string; url: string | undefined }[] = [];
    const receiver = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
      received.push({ headers: request.headers, body, url: request.url });
      response.end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const webhook = JSON.stringify({
      url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook?a=1`,
      headers: { "x-mine": "yes", "webhook-id": "forged" },
      query_params: { b: "2" },
    });
    const secret = (await gantry.call("GET", "/api/v2/webhooks/secret")).body.secrets[0];
    const done = await accept("admin/slow", { prompt: "x", webhook });
    await waitFor("the upstream call", () => cog.open === 1);
    cog.finishOne();
    const failed = await accept("admin/brief", { prompt: "x", webhook });
    await waitFor("two deliveries", () => received.length === 2);
    for (const [delivery, id, status, model] of [
      [received[0], done, 200, "admin/slow"],
      [received[1], failed, 504, "admin/brief"],
    ] as const) {
      expect(delivery?.url).toBe("/hook?a=1&b=2");
      expect(delivery?.headers["x-mine"]).toBe("yes");
      const payload = new Webhook(secret).verify(delivery?.body ?? "", delivery?.headers as Record<string, string>);
      expect(payload).toMatchObject({ prediction_id: id, model, infer_details: { status, request_id: id } });
      expect((await result(model, id)).body.inference_responses[0]).toEqual(
        Object.fromEntries(
          Object.entries(payload as object).filter(([name]) => !["prediction_id", "model"].includes(name)),
        ),
      );
    }
    const list = await gantry.call("GET", `/api/v2/webhooks/deliveries?prediction_id=${done}`);
    expect(list.body.results[0]).toMatchObject({ prediction_id: done, status: "delivered", attempts: 1 });
    receiver.close();
  });

  test("is refused on the sync route and for an address that is not http", async () => {
    const sync = await gantry.call("POST", "/api/v1/admin/slow/predict", { form: { prompt: "x", webhook: "{}" } });
    expect(sync.body.detail[0]).toMatchObject({ type: "extra_forbidden", loc: ["body", "webhook"] });
    const ftp = await gantry.call("POST", "/api/v1/admin/slow/predict/async", {
      form: { prompt: "x", webhook: '{"url":"ftp://x"}' },
    });
    expect(ftp.body.detail[0]).toMatchObject({ type: "url_parsing" });
    const long = await gantry.call("POST", "/api/v1/admin/slow/predict/async", {
      form: { prompt: "x", webhook: JSON.stringify({ url: `https://a.example/${"x".repeat(2083)}` }) },
    });
    expect(long.body.detail).toMatchObject([
      { type: "string_too_long", loc: ["body", "webhook", "url"], ctx: { max_length: 2083 } },
    ]);
  });
});
