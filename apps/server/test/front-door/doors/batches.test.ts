import OpenAI, { toFile } from "openai";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import {
  type EmbeddingServer,
  startOpenAiEmbeddings,
} from "../../../src/engines/models/test-upstreams/embedding-server.ts";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { openaiClient } from "../../support/agent-chats.ts";
import { chatLine, createBatch, endOf, resultsOf, uploadLines } from "../../support/batch-lines.ts";
import { type EchoChat, startEchoChat } from "../../support/echo-chat.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, createModels } from "../../support/models.ts";

const secret = "sk-batches-0815";
const model = "admin/echo";
let gantry: GantryNode;
let chat: EchoChat;
let embeddings: EmbeddingServer;
let client: OpenAI;

beforeAll(async () => {
  [chat, embeddings] = await Promise.all([startEchoChat(), startOpenAiEmbeddings(secret)]);
  gantry = await startGantry();
  await gantry.call("PUT", "/api/v2/secrets/embedder", { json: { value: secret } });
  await createModels(gantry, {
    // 10 tokens in and 5 out are $0.003 a call, and half of that in a batch.
    echo: chatModel(chat.url, {
      capacity: 20,
      pricing: { per_million_input_tokens: 100, per_million_output_tokens: 400, batch_factor: 0.5 },
    }),
    embed: {
      kind: "embedding",
      visibility: "public",
      capacity: 20,
      pricing: { per_million_input_tokens: 1000 },
      backend: { type: "openai-embeddings", url: `${embeddings.url}/v1`, model: "m-1", secret: "embedder" },
    },
  });
  client = openaiClient(gantry, gantry.adminKey);
}, 60_000);
afterAll(async () => {
  await gantry.close();
  await chat.close();
  await embeddings.close();
});
afterEach(async () => {
  expect(await verifyLedger(gantry.database)).toEqual([]);
});

const usageOf = (batchId: string) => gantry.database.sql<
  { route: string; door: string; status: number; price: number }[]
>`
  select u.route, u.door, u.status, u.price_micros as price from usage u
  join batch_lines l on l.prediction_id = u.request_id where l.batch_id = ${batchId} order by l.line`;

test("a batch of chat completions: uploaded, run, charged once at the factor, and downloaded", async () => {
  const lines = Array.from({ length: 40 }, (_, n) => chatLine(model, `line ${n}`));
  const file = await uploadLines(client, [...lines, chatLine(model, "fail", "broken"), ""]);
  expect(file).toMatchObject({ object: "file", purpose: "batch", filename: "lines.jsonl", status: "processed" });
  const made = await client.batches.create({
    input_file_id: file.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
    metadata: { job: "nightly" },
  });
  expect(made).toMatchObject({ object: "batch", status: "validating", metadata: { job: "nightly" }, errors: null });
  expect(made.expires_at).toBe((made.created_at ?? 0) + 86_400);
  const batch = await endOf(client, made.id);
  expect(batch).toMatchObject({ status: "completed", request_counts: { total: 41, completed: 40, failed: 1 } });
  const results = await resultsOf(client, batch.output_file_id);
  expect(results.map(({ custom_id: id }) => id)).toEqual(lines.map((_, n) => `line ${n}`));
  expect(results[3]).toMatchObject({
    id: expect.stringMatching(/^batch_req_/),
    response: {
      status_code: 200,
      request_id: expect.stringMatching(/^pred_/),
      body: { object: "chat.completion", model, choices: [{ message: { content: "echo line 3" } }] },
    },
    error: null,
  });
  const errors = await resultsOf(client, batch.error_file_id);
  expect(errors).toMatchObject([{ custom_id: "broken", response: { status_code: 502 }, error: null }]);
  expect(errors[0]?.response?.body.error).toMatchObject({ type: "server_error", code: "downstream_service_error" });
  const usage = await usageOf(batch.id);
  expect(usage.slice(0, 40)).toEqual(
    Array.from({ length: 40 }, () => ({ route: "async", door: "openai-chat", status: 200, price: 1_500 })),
  );
  expect(usage[40]?.price).toBe(0);
  expect([...chat.asked.values()].every((times) => times === 1)).toBe(true);
  // A direct call has the whole price.
  await client.chat.completions.create({ model, messages: [{ role: "user", content: "direct" }] });
  const [direct] = await gantry.database.sql`select price_micros as price from usage order by created_at desc limit 1`;
  expect(direct?.price).toBe(3_000);
});

test("a prediction shows its batch", async () => {
  const batch = await endOf(client, (await createBatch(client, [chatLine(model, "linked")])).id);
  const [result] = await resultsOf(client, batch.output_file_id);
  const shown = await gantry.call("GET", `/api/v2/predictions/${result?.response?.request_id}`);
  expect(shown.body).toMatchObject({ batch_id: batch.id, mode: "async" });
});

test("embeddings in a batch", async () => {
  const line = (id: string, body: object) => ({ custom_id: id, method: "POST", url: "/v1/embeddings", body });
  const made = await createBatch(
    client,
    [
      line("floats", { model: "admin/embed", input: ["one", "two"] }),
      line("text", { model: "admin/embed", input: "three", encoding_format: "base64" }),
      line("tokens", { model: "admin/embed", input: [1, 2] }),
    ],
    "/v1/embeddings",
  );
  const batch = await endOf(client, made.id);
  expect(batch.request_counts).toEqual({ total: 3, completed: 2, failed: 1 });
  const [floats, text] = await resultsOf(client, batch.output_file_id);
  expect(floats?.response?.body).toMatchObject({ object: "list", model: "admin/embed", usage: { prompt_tokens: 8 } });
  expect(floats?.response?.body.data[1].embedding).toHaveLength(4);
  expect(typeof text?.response?.body.data[0].embedding).toBe("string");
  const [tokens] = await resultsOf(client, batch.error_file_id);
  expect(tokens?.response).toMatchObject({ status_code: 400, body: { error: { param: "input" } } });
});

test("responses in a batch are stored", async () => {
  const body = { model, input: "Well?" };
  const made = await createBatch(
    client,
    [{ custom_id: "a", method: "POST", url: "/v1/responses", body }],
    "/v1/responses",
  );
  const batch = await endOf(client, made.id);
  const [result] = await resultsOf(client, batch.output_file_id);
  expect(result?.response?.body).toMatchObject({ object: "response", status: "completed", model });
  const stored = await client.responses.retrieve(result?.response?.body.id);
  expect(stored.output_text).toBe("echo Well?");
  expect(await usageOf(batch.id)).toEqual([{ route: "async", door: "openai-responses", status: 200, price: 1_500 }]);
});

test("an invalid file fails the batch, and each problem names its line", async () => {
  const valid = chatLine(model, "never runs");
  const made = await createBatch(client, [
    valid,
    "{not json",
    { ...valid, custom_id: "b", url: "/v1/embeddings" },
    { ...valid, custom_id: "c", method: "GET" },
    valid,
    { custom_id: "d", method: "POST", url: "/v1/chat/completions" },
  ]);
  const batch = await endOf(client, made.id);
  expect(batch).toMatchObject({ status: "failed", output_file_id: null, error_file_id: null });
  expect(batch.errors?.data?.map(({ code, line, param }) => [code, line, param])).toEqual([
    ["invalid_json_line", 2, null],
    ["invalid_url", 3, "url"],
    ["invalid_method", 4, "method"],
    ["duplicate_custom_id", 5, "custom_id"],
    ["missing_required_parameter", 6, "body"],
  ]);
  expect(chat.asked.has("never runs")).toBe(false);
  const empty = await endOf(client, (await createBatch(client, ["  "])).id);
  expect(empty.errors?.data).toMatchObject([{ code: "empty_file" }]);
});

test("requests that the route would refuse fail alone", async () => {
  const made = await createBatch(client, [
    chatLine("admin/missing", "x", "model"),
    chatLine("agents/admin/none", "x", "agent"),
    chatLine(model, "x", "streamed", { stream: true }),
    chatLine(model, "x", "empty", { messages: [] }),
    chatLine(model, "good"),
  ]);
  const batch = await endOf(client, made.id);
  expect(batch).toMatchObject({ status: "completed", request_counts: { total: 5, completed: 1, failed: 4 } });
  const errors = await resultsOf(client, batch.error_file_id);
  expect(errors.map(({ custom_id: id, response }) => [id, response?.status_code, response?.body.error.param])).toEqual([
    ["model", 404, "model"],
    ["agent", 400, "model"],
    ["streamed", 400, "stream"],
    ["empty", 400, "messages"],
  ]);
});

test("lists are paged by a cursor", async () => {
  const user = openaiClient(gantry, await gantry.newUser("lister"));
  const made: string[] = [];
  for (let n = 0; n < 5; n++) made.unshift((await createBatch(user, [chatLine(model, `page ${n}`)])).id);
  const first = await user.batches.list({ limit: 2 });
  expect(first.data.map(({ id }) => id)).toEqual(made.slice(0, 2));
  expect(first.has_more).toBe(true);
  expect((await Array.fromAsync(user.batches.list({ limit: 2 }))).map(({ id }) => id)).toEqual(made);
  const inputs = await Array.fromAsync(user.files.list({ purpose: "batch", limit: 2, order: "asc" }));
  expect(inputs).toHaveLength(5);
  expect(inputs.map(({ id }) => id)).toEqual(inputs.map(({ id }) => id).sort());
  for (const id of made) await endOf(user, id);
  expect(await Array.fromAsync(user.files.list({ limit: 3 }))).toHaveLength(10);
});

test.each([
  ["purpose", { purpose: "assistants" }],
  ["purpose", {}],
  ["expires_after[anchor]", { purpose: "batch", "expires_after[anchor]": "created_at" }],
  ["other", { purpose: "batch", other: new Blob(["{}"]) }],
])("an upload with a wrong %s is refused and leaves nothing", async (param, fields) => {
  const key = await gantry.newUser("uploader");
  const form = { ...fields, file: new Blob(["{}"]) };
  const answer = await gantry.call("POST", "/v1/files", { key, form });
  expect([answer.status, answer.body.error.param]).toEqual([400, param]);
  expect((await gantry.call("GET", "/api/v2/files", { key })).body).toMatchObject({ results: [] });
});

test.each([
  ["endpoint", 400, { endpoint: "/v1/images/generations" }],
  ["completion_window", 400, { completion_window: "1h" }],
  ["input_file_id", 404, { input_file_id: "file_none" }],
  ["output_expires_after", 400, { output_expires_after: { anchor: "created_at", seconds: 3_600 } }],
])("a batch with a wrong %s is refused", async (param, status, change) => {
  const { id } = await uploadLines(client, [chatLine(model, "x")]);
  const json = { input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h", ...change };
  const answer = await gantry.call("POST", "/v1/batches", { json });
  expect([answer.status, answer.body.error.param], answer.text).toEqual([status, param]);
});

test("unknown fields are ignored", async () => {
  const form = { purpose: "batch", note: "x", file: new Blob([JSON.stringify(chatLine(model, "noted"))]) };
  const file = await gantry.call("POST", "/v1/files", { form });
  expect(file.status, file.text).toBe(200);
  const asked = { input_file_id: file.body.id, endpoint: "/v1/chat/completions", completion_window: "24h" };
  const batch = await gantry.call("POST", "/v1/batches", { json: { ...asked, note: "x", output_expires_after: null } });
  expect(batch.status, batch.text).toBe(200);
  await endOf(client, batch.body.id);
});

test("Gantry-Keep-Input: false on a batch holds for all its lines", async () => {
  const { id } = await uploadLines(client, [
    chatLine(model, "private"),
    chatLine(model, "shut", "shut", { store: false }),
  ]);
  const asked = { input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" } as const;
  const keptOf = async (batchId: string) => {
    const results = await resultsOf(client, (await endOf(client, batchId)).output_file_id);
    const shown = results.map(({ response }) => gantry.call("GET", `/api/v2/predictions/${response?.request_id}`));
    return (await Promise.all(shown)).map(({ body }) => body.input !== null);
  };
  const made = await client.batches.create(asked);
  expect(await keptOf(made.id)).toEqual([true, false]);
  const secretive = await client.batches.create(asked, { headers: { "gantry-keep-input": "false" } });
  expect(await keptOf(secretive.id)).toEqual([false, false]);
});

test("a person's key that keeps no inputs keeps none in batches of a team either", async () => {
  const owner = await gantry.newUser("discreet");
  await gantry.call("POST", "/api/v2/teams", { json: { name: "quiet", owner: "discreet" } });
  await gantry.call("POST", "/api/v2/admin/users/quiet/credits", { json: { amount: 1, reason: "test" } });
  const { key } = (await gantry.call("POST", "/api/v2/keys", { key: owner, json: { keep_inputs: false } })).body;
  const headers = { "x-gantry-team": "quiet" };
  const form = { purpose: "batch", file: new Blob([JSON.stringify(chatLine(model, "hushed"))]) };
  const input = (await gantry.call("POST", "/v1/files", { key, headers, form })).body.id;
  const json = { input_file_id: input, endpoint: "/v1/chat/completions", completion_window: "24h" };
  const { id } = (await gantry.call("POST", "/v1/batches", { key, headers, json })).body;
  const ended = async () => (await gantry.call("GET", `/v1/batches/${id}`, { key, headers })).body.completed_at;
  await expect.poll(ended, { timeout: 10_000 }).toEqual(expect.any(Number));
  const rows = await gantry.database.sql`
    select p.input from ended_predictions p join batch_lines l on l.prediction_id = p.id where l.batch_id = ${id}`;
  expect(rows).toEqual([{ input: null }]);
});

test("files are read, kept while a batch needs them, and deleted", async () => {
  let release = () => {};
  chat.pause = (text) => (text === "slow" ? new Promise((resolve) => (release = resolve)) : Promise.resolve());
  const file = await client.files.create({
    file: await toFile(Buffer.from(JSON.stringify(chatLine(model, "slow"))), "slow.jsonl"),
    purpose: "batch",
  });
  const made = await client.batches.create({
    input_file_id: file.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
  });
  await expect(client.files.delete(file.id)).rejects.toMatchObject({ status: 409 });
  const content = await client.files.content(file.id);
  expect(content.headers.get("content-disposition")).toContain("attachment");
  expect(JSON.parse(await content.text())).toEqual(chatLine(model, "slow"));
  await expect.poll(() => chat.asked.has("slow"), { timeout: 10_000 }).toBe(true);
  release();
  await endOf(client, made.id);
  expect(await client.files.delete(file.id)).toMatchObject({ id: file.id, deleted: true });
  await expect(client.files.retrieve(file.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
});
