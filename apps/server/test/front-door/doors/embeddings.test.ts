import OpenAI, { APIError } from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  type EmbeddingServer,
  startOpenAiEmbeddings,
  vectorOf,
} from "../../../src/engines/models/test-upstreams/embedding-server.ts";
import { jsonReply } from "../../../src/engines/models/test-upstreams/scripted-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, createModels } from "../../support/models.ts";
import { waitFor } from "../../support/wait-for.ts";

const secret = "sk-embeddings-0815";
let gantry: GantryNode;
let upstream: EmbeddingServer;
let key: string;

beforeAll(async () => {
  upstream = await startOpenAiEmbeddings(secret);
  gantry = await startGantry();
  await gantry.call("PUT", "/api/v2/secrets/embedder", { json: { value: secret } });
  const backend = { type: "openai-embeddings", url: `${upstream.url}/v1`, model: "m-1", secret: "embedder" };
  const embedding = { kind: "embedding", visibility: "public", capacity: 20, backend };
  await createModels(gantry, {
    embed: { ...embedding, pricing: { per_million_input_tokens: 1000 } },
    free: embedding,
    short: {
      ...embedding,
      input: {
        type: "object",
        required: ["input"],
        properties: { input: { type: "array", maxItems: 2, items: { type: "string", maxLength: 10 } } },
      },
    },
    remote: {
      ...embedding,
      pricing: { per_million_input_tokens: 1000 },
      backend: { type: "gantry", url: gantry.url, model: "admin/free", secret: "self" },
    },
    chat: chatModel(upstream.url),
  });
  await gantry.call("PUT", "/api/v2/secrets/self", { json: { value: gantry.adminKey } });
  key = await gantry.newUser("reader", { credit: 100 });
});
afterAll(async () => {
  await gantry.close();
  await upstream.close();
});
beforeEach(() => {
  upstream.seen.length = 0;
  upstream.odd.call.length = 0;
  Object.assign(upstream.as, {
    format: "asked",
    usage: { prompt_tokens: 8, total_tokens: 8 },
    dimensions: 4,
    change: (entries: unknown[]) => entries,
  });
});

const client = (apiKey = key, more = {}) => new OpenAI({ baseURL: `${gantry.url}/v1`, apiKey, maxRetries: 0, ...more });
const post = (json: object, options = {}) => gantry.call("POST", "/v1/embeddings", { key, json, ...options });
const sent = (n = 0) => JSON.parse(String(upstream.seen[n]?.body));
const usageOf = async (id: string, by = key) => {
  const { body } = await gantry.call("GET", "/api/v2/usage", { key: by });
  return body.results.find((row: { request_id: string }) => row.request_id === id);
};
const storedOutput = async (id: string) => {
  const [row] = await gantry.database.sql<{ output: unknown }[]>`
    select output from ended_predictions where id = ${id}`;
  return row?.output;
};

async function refusal(work: Promise<unknown>): Promise<APIError> {
  const error = await work.then(
    () => new Error("it did not fail"),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof APIError)) throw error;
  return error;
}

describe("the official client", () => {
  test("gets the vectors of several texts, in base64 as it asks by default", async () => {
    const input = ["a boat", "zwölf Boote"];
    const { data, response } = await client().embeddings.create({ model: "admin/embed", input }).withResponse();
    expect(data).toMatchObject({
      object: "list",
      model: "admin/embed",
      usage: { prompt_tokens: 8, total_tokens: 8 },
    });
    expect(data.data.map((entry) => [entry.object, entry.index, Array.from(entry.embedding)])).toEqual(
      input.map((text, index) => ["embedding", index, vectorOf(text, 4)]),
    );
    expect(sent()).toEqual({ model: "m-1", input, encoding_format: "base64" });
    expect(response.headers.get("x-gantry-cost")).toBe("0.008");
    expect(response.headers.get("x-gantry-prediction-id")).toMatch(/^pred_/);
  });

  test("gets floats of one text if it asks for them", async () => {
    const answer = await client().embeddings.create({
      ...{ model: "admin/embed", input: "a boat", encoding_format: "float" as const },
      ...{ dimensions: 3, user: "u-1" },
    });
    expect(answer.data[0]?.embedding).toEqual(vectorOf("a boat", 3));
    expect(sent()).toMatchObject({ input: ["a boat"], dimensions: 3, user: "u-1" });
  });

  test("gets an answer of 10 MB", async () => {
    upstream.as.dimensions = 1024;
    const input = Array.from({ length: 600 }, (_, n) => `text ${n}`);
    for (const format of ["float", "base64"] as const) {
      const { data } = await client().embeddings.create({ model: "admin/free", input, encoding_format: format });
      expect(data).toHaveLength(600);
      const last: unknown = data[599]?.embedding;
      const numbers =
        typeof last === "string"
          ? Array.from(new Float32Array(new Uint8Array(Buffer.from(last, "base64")).buffer))
          : last;
      expect(numbers).toEqual(vectorOf("text 599", 1024));
    }
  });
});

test("without an encoding the wire has floats, and unknown fields reach the upstream", async () => {
  const answer = await post({ model: "admin/free", input: "a boat", input_type: "query", encoding_format: null });
  expect(answer.body).toEqual({
    object: "list",
    data: [{ object: "embedding", index: 0, embedding: vectorOf("a boat", 4) }],
    model: "admin/free",
    usage: { prompt_tokens: 8, total_tokens: 8 },
  });
  expect(sent()).toEqual({ model: "m-1", input: ["a boat"], encoding_format: "base64", input_type: "query" });
});

test.each([
  [{ input: [1, 2, 3] }, "input"],
  [{ input: [[1, 2], [3]] }, "input"],
  [{ input: [] }, "input"],
  [{ input: "" }, "input"],
  [{ input: ["a", ""] }, "input"],
  [{ input: 7 }, "input"],
  [{}, "input"],
  [{ input: Array.from({ length: 2049 }, () => "a") }, "input"],
  [{ input: "a", encoding_format: "int8" }, "encoding_format"],
  [{ input: "a", dimensions: 0 }, "dimensions"],
  [{ input: "a", dimensions: "4" }, "dimensions"],
  [{ input: ["a", "far too long"], model: "admin/short" }, "input[1]"],
  [{ input: "far too long", model: "admin/short" }, "input"],
  [{ input: ["a", "b", "c"], model: "admin/short" }, "input"],
  [{ input: "a", model: "admin/chat" }, "model"],
  [{ input: "a", model: "agents/admin/x" }, "model"],
  [{ input: "a", model: null }, "model"],
])("%j is a 400 that names the field", async (change, param) => {
  const refused = await refusal(client().embeddings.create({ model: "admin/free", ...change } as never));
  expect([refused.status, refused.param, refused.type]).toEqual([400, param, "invalid_request_error"]);
  expect(refused.headers?.get("x-should-retry")).toBe("false");
  expect(upstream.seen).toHaveLength(0);
});

describe("money", () => {
  test("is charged by input tokens, with the door in the usage row", async () => {
    const { headers } = await post({ model: "admin/embed", input: ["a boat", "b"] });
    const id = headers.get("x-gantry-prediction-id") ?? "";
    expect(await usageOf(id)).toMatchObject({
      model_name: "admin/embed",
      route: "sync",
      door: "openai-embeddings",
      status: 200,
      input_tokens: 8,
      output_tokens: 0,
      price: 0.008,
    });
  });

  test("is never more than the reservation, which counts all texts", async () => {
    upstream.as.usage = { prompt_tokens: 5_000_000 };
    // "boat" and the line break between texts are one token each: 39 × 1.25 + 64.
    const input = Array.from({ length: 20 }, () => "boat");
    const { body, headers } = await post({ model: "admin/embed", input });
    expect(body.usage).toEqual({ prompt_tokens: 113, total_tokens: 113 });
    expect(headers.get("x-gantry-cost")).toBe("0.113");
  });

  test("counts tokens here if the upstream does not", async () => {
    upstream.as.usage = undefined;
    const { body } = await post({ model: "admin/embed", input: ["boat", "boat"] });
    expect(body.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
  });

  test("is not charged for a failure", async () => {
    const poor = await gantry.newUser("failing");
    upstream.as.change = () => [];
    const refused = await refusal(client(poor).embeddings.create({ model: "admin/embed", input: "a" }));
    expect([refused.status, refused.headers?.get("x-should-retry")]).toEqual([502, "false"]);
    expect((await gantry.call("GET", "/api/v2/me", { key: poor })).body).toMatchObject({ balance: 10, reserved: 0 });
  });

  test("must be there", async () => {
    const poor = await gantry.newUser("poor", { credit: -1 });
    const refused = await refusal(client(poor).embeddings.create({ model: "admin/embed", input: "a" }));
    expect([refused.status, refused.code]).toEqual([402, "insufficient_quota"]);
    expect(refused.headers?.get("x-should-retry")).toBe("false");
  });
});

describe("limits and access", () => {
  test("a plan's rate is a 429 with retry-after", async () => {
    await gantry.call("PUT", "/api/v2/admin/plans/slow", { json: { parallel: 4, requests_per_minute: 1 } });
    const slow = await gantry.newUser("slow", { plan: "slow" });
    expect((await post({ model: "admin/free", input: "a" }, { key: slow })).status).toBe(200);
    const refused = await refusal(client(slow).embeddings.create({ model: "admin/free", input: "a" }));
    expect([refused.status, refused.code]).toEqual([429, "rate_limit_exceeded"]);
    expect(Number(refused.headers?.get("retry-after"))).toBeGreaterThan(0);
  });

  test("a key that is confined to other models does not see the model", async () => {
    const made = await gantry.call("POST", "/api/v2/keys", { key, json: { models: ["admin/free"] } });
    const confined = client(made.body.key);
    expect((await confined.embeddings.create({ model: "admin/free", input: "a" })).data).toHaveLength(1);
    const refused = await refusal(confined.embeddings.create({ model: "admin/embed", input: "a" }));
    expect([refused.status, refused.code, refused.param]).toEqual([404, "model_not_found", "model"]);
  });

  test("a wrong key is a 401", async () => {
    const refused = await refusal(client("wrong").embeddings.create({ model: "admin/free", input: "a" }));
    expect([refused.status, refused.code]).toEqual([401, "invalid_api_key"]);
  });
});

test("an alias stands for the model, whose name is in the usage row", async () => {
  await gantry.call("PUT", "/api/v2/aliases/text-embedding-3-small", { key, json: { model: "admin/embed" } });
  const asked = { model: "text-embedding-3-small", input: "a" };
  const { data, response } = await client().embeddings.create(asked).withResponse();
  expect(data.model).toBe("text-embedding-3-small");
  const id = response.headers.get("x-gantry-prediction-id") ?? "";
  expect(await usageOf(id)).toMatchObject({ model_name: "admin/embed" });
});

test("a 400 of the upstream about the request is a 400 with its sentence, on this route only", async () => {
  const message = `This model's maximum context length is 8192 tokens, and the key is ${secret}.`;
  const refusing = { kind: "reply" as const, reply: jsonReply({ error: { message } }, 400) };
  upstream.odd.call.push(refusing, refusing);
  const refused = await refusal(client().embeddings.create({ model: "admin/free", input: "a" }));
  expect([refused.status, refused.headers?.get("x-should-retry")]).toEqual([400, "false"]);
  expect(refused.message).toContain("maximum context length is 8192 tokens");
  expect(refused.message).not.toContain(secret);
  const own = await gantry.call("POST", "/api/v1/admin/free/predict", { key, form: { input: '["a"]' } });
  expect([own.status, own.text.includes("maximum context")]).toEqual([502, false]);
});

test("a 503 of the upstream may be retried", async () => {
  for (let n = 0; n < 3; n++) upstream.odd.call.push({ kind: "reply", reply: jsonReply({}, 503) });
  const refused = await refusal(client().embeddings.create({ model: "admin/free", input: "a" }));
  expect([refused.status, refused.headers?.get("x-should-retry")]).toEqual([503, "true"]);
});

test("a client that leaves stops the upstream", async () => {
  upstream.odd.call.push({ kind: "hang" });
  const stop = new AbortController();
  const asking = client().embeddings.create({ model: "admin/embed", input: "a" }, { signal: stop.signal });
  asking.catch(() => {});
  await waitFor("the request", () => upstream.seen.length === 1);
  stop.abort();
  await waitFor("the end", () => upstream.seen[0]?.leftAt !== undefined);
  await waitFor("the settlement", async () => (await gantry.call("GET", "/api/v2/me", { key })).body.reserved === 0);
});

describe("vectors in the database", () => {
  test("are not kept", async () => {
    const { headers } = await post({ model: "admin/free", input: "a" });
    expect(await storedOutput(headers.get("x-gantry-prediction-id") ?? "")).toEqual({});
  });

  test("are kept for the repeats of an Idempotency-Key", async () => {
    const asked = { model: "admin/embed", input: ["a boat", "b"] };
    const headers = { "idempotency-key": "index-1" };
    const first = await post(asked, { headers });
    const again = await post(asked, { headers });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("x-gantry-prediction-id")).toBe(first.headers.get("x-gantry-prediction-id"));
    expect(upstream.seen).toHaveLength(1);
    const other = await post({ ...asked, input: "c" }, { headers });
    expect([other.status, other.body.error.code]).toEqual([400, "idempotency_key_reused"]);
  });
});

test("vectors that are too many to keep are answered once, and a repeat is not charged again", async () => {
  upstream.as.dimensions = 3000;
  const asked = { model: "admin/free", input: Array.from({ length: 200 }, (_, n) => `text ${n}`) };
  const headers = { "idempotency-key": "index-2" };
  const first = await post(asked, { headers });
  expect([first.status, first.body.data.length]).toEqual([200, 200]);
  expect(await storedOutput(first.headers.get("x-gantry-prediction-id") ?? "")).toEqual({});
  const again = await post(asked, { headers });
  expect([again.status, again.headers.get("x-should-retry")]).toEqual([409, "false"]);
  expect(again.body.error.message).toContain("too many to keep");
  expect(upstream.seen).toHaveLength(1);
});

describe("predict", () => {
  const predict = (model: string, form: Record<string, string>) =>
    gantry.call("POST", `/api/v1/admin/${model}/predict`, { key, form });

  test("answers with lists of numbers, and keeps them", async () => {
    const { body } = await predict("embed", { input: '["a boat", "b"]', dimensions: "2" });
    const output = { embeddings: [vectorOf("a boat", 2), vectorOf("b", 2)] };
    expect(body.output_data).toEqual(output);
    expect(await storedOutput(body.prediction_id)).toEqual(output);
    expect(await usageOf(body.prediction_id)).toMatchObject({ door: null, input_tokens: 8, price: 0.008 });
  });

  test.each(["a boat", "[]", '[""]', "[1]"])("refuses %s as input", async (input) => {
    const { status, body } = await predict("embed", { input });
    expect([status, body.detail[0].loc.slice(0, 2)]).toEqual([422, ["body", "input"]]);
  });
});

test("a model of another Gantry answers through the same route", async () => {
  const { data, usage } = await client().embeddings.create({
    model: "admin/remote",
    input: ["boat", "b"],
    dimensions: 3,
  });
  expect(data.map(({ embedding }) => Array.from(embedding))).toEqual([vectorOf("boat", 3), vectorOf("b", 3)]);
  expect(usage.prompt_tokens).toBe(3);
});
