import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { type ChatServer, startChatServer } from "../../support/chat-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, cogModel, createModels } from "../../support/models.ts";
import { readStream } from "../../support/read-stream.ts";
import { type SlowCog, startSlowCog } from "../../support/slow-cog.ts";
import { waitFor } from "../../support/wait-for.ts";

let stays: GantryNode;
let cog: SlowCog;
let chat: ChatServer;

beforeAll(async () => {
  [cog, chat] = await Promise.all([startSlowCog(), startChatServer()]);
  stays = await startGantry();
  const change = { capacity: 8, pricing: { per_second: 0.001, per_million_output_tokens: 100 } };
  await createModels(stays, { slow: cogModel(cog.url, change), chat: chatModel(chat.url, change) });
});

afterAll(async () => {
  expect(await verifyLedger(stays.database)).toEqual([]);
  await stays.close();
  await Promise.all([cog.close(), chat.close()]);
});

const form = { prompt: "x" };
const path = (name: string, way: string) => `/api/v1/admin/${name}/predict${way}`;
const keyed = (key: string) => ({ form, headers: { "idempotency-key": key } });

async function took<T>(work: Promise<T>): Promise<[T, number]> {
  const since = performance.now();
  return [await work, performance.now() - since];
}

test("readers are answered at once: the current item, lines that end, a retryable repeat", async () => {
  const leaves = await startGantry({ beside: stays, env: { GANTRY_ROLE: "api" } });
  try {
    const jobs = [
      await stays.call("POST", path("slow", "/async/"), { form }),
      await stays.call("POST", path("chat", "/async/"), { form }),
    ];
    const [slowId, chatId] = jobs.map((job) => job.body.prediction_id as string);
    const running = stays.call("POST", path("slow", ""), keyed("open"));
    await waitFor("the upstream calls", () => cog.open === 2 && chat.open === 1);
    chat.say("so far");
    const result = (name: string, id: string | undefined, query = "") =>
      `${path(name, "/async/result")}?request_id=${id}${query}`;
    const lines = await leaves.fetch("GET", result("chat", chatId), { headers: { accept: "application/x-ndjson" } });
    const waiting = leaves.call("GET", result("slow", slowId, "&wait=60"));
    const repeat = leaves.call("POST", path("slow", ""), keyed("open"));
    await sleep(700);
    const draining = leaves.gantry.drain(10_000);
    const [answers, ms] = await took(Promise.all([waiting, lines.text(), repeat]));
    await draining;
    expect(ms).toBeLessThan(8_000);
    const [item, said, again] = answers;
    expect(item.status).toBe(200);
    expect(item.body.inference_responses[0]).toMatchObject({
      infer_details: { status: 202, request_id: slowId },
      response: {},
    });
    expect(
      said
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([{ prediction_id: chatId }, { output_data: { output: ["so far"] }, status: 200 }]);
    expect([again.status, again.headers.get("x-service-retryable")]).toEqual([503, "true"]);
    expect(again.body.detail[0].type).toBe("service_unavailable");
    cog.finishAll();
    chat.end({ prompt_tokens: 1, completion_tokens: 2 });
    expect((await running).status).toBe(200);
    await stays.call("GET", result("chat", chatId, "&wait=10"));
  } finally {
    await leaves.close();
  }
});

test("unfinished predictions fail as retryable, without a charge, and release their key", async () => {
  const leaves = await startGantry({ beside: stays, env: { GANTRY_ROLE: "api" } });
  try {
    const key = await stays.newUser("paying");
    const plain = leaves.call("POST", path("slow", ""), { form, key });
    const withKey = leaves.call("POST", path("slow", ""), { ...keyed("cut"), key });
    const stream = readStream(await leaves.fetch("POST", path("chat", "/stream/"), { form, key }));
    await waitFor("the upstream calls", () => cog.open === 2 && chat.open === 1);
    const { prediction_id: streamId } = (await stream.next()).value;
    chat.say("one ", "two ");
    await stream.next();
    await leaves.gantry.drain(300);
    for (const answer of await Promise.all([plain, withKey])) {
      expect([answer.status, answer.headers.get("x-service-retryable")]).toEqual([503, "true"]);
      expect(answer.body.detail[0]).toMatchObject({
        type: "service_unavailable",
        msg: "The server is shutting down",
      });
    }
    const rest = await Array.fromAsync(stream);
    expect(rest.at(-1)).toMatchObject({ status: 503, detail: [{ type: "service_unavailable" }] });
    await waitFor("the upstream calls to be closed", () => cog.open === 0 && chat.open === 0);
    const usage = (await stays.call("GET", "/api/v2/usage", { key })).body.results;
    expect(usage.map(({ status, price }: { status: number; price: number }) => [status, price])).toEqual([
      [503, 0],
      [503, 0],
      [503, 0],
    ]);
    expect(usage.map((row: { request_id: string }) => row.request_id)).toContain(streamId);
    expect((await stays.call("GET", "/api/v2/me", { key })).body).toMatchObject({ balance: 10, reserved: 0 });
    const again = stays.call("POST", path("slow", ""), { ...keyed("cut"), key });
    await waitFor("the restart", () => cog.open === 1);
    cog.finishOne();
    expect((await again).status).toBe(200);
  } finally {
    await leaves.close();
  }
});
