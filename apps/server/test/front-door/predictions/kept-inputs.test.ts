import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, cogModel, createModels, object, text } from "../../support/models.ts";
import { type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let llm: ScriptedLlm;
let key: string;

const image = { type: "string", format: "binary", "x-media": "file", "x-formats": [".txt", ".png"] };

beforeAll(async () => {
  llm = await startScriptedLlm(() => ({ text: "An **answer**." }));
  gantry = await startGantry();
  await createModels(gantry, {
    chat: chatModel(llm.url),
    silent: chatModel(llm.url, { keep_inputs: false }),
    broken: cogModel("http://127.0.0.1:1", { input: object({ prompt: text, picture: image }, ["prompt"]) }),
  });
  key = await gantry.newUser("ann", { credit: 10 });
});

afterAll(async () => {
  await gantry?.close();
  await llm?.close();
});

const read = async (id: string, by = key) => {
  const answer = await gantry.call("GET", `/api/v2/predictions/${id}`, { key: by });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};

async function stream(fields: Record<string, string | Blob>, headers = {}, by = key, model = "admin/chat") {
  const answer = await gantry.call("POST", `/api/v1/${model}/predict/stream/`, { key: by, form: fields, headers });
  expect(answer.status, answer.text).toBe(200);
  return answer.headers.get("x-prediction-id") ?? "";
}

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const sha256 = createHash("sha256").update(png).digest("hex");

test("a synchronous prediction keeps its input, its times, its key and the id of its request", async () => {
  const called = await gantry.call("POST", "/api/v1/gantry/image/predict", {
    key,
    form: { prompt: "A red  barn", watermark: "false" },
    headers: { "x-request-id": "my-request-0001" },
  });
  expect(called.status, called.text).toBe(200);
  const record = await read(called.body.prediction_id);
  expect(record).toMatchObject({
    model_name: "gantry/image",
    mode: "sync",
    status: "succeeded",
    status_code: 200,
    input: { prompt: "A red  barn", watermark: false },
    input_state: "kept",
    input_truncated: false,
    request_id: "my-request-0001",
    output: called.body.output_data,
    reserved: 0,
    key: { id: expect.stringMatching(/^key_/), name: expect.any(String) },
    run_id: null,
    agent: null,
    error: null,
    webhook: null,
    preview: {
      input: "A red barn",
      output: null,
      file: { url: Object.values(called.body.output_data)[0], content_type: "image/jpeg" },
    },
  });
  expect(record.queued_time).toBeGreaterThanOrEqual(0);
  expect(record.inference_time).toBeGreaterThan(0);
  expect(Date.parse(record.ended_at)).toBeGreaterThanOrEqual(Date.parse(record.created_at));
  expect((await fetch(record.preview.file.link)).status).toBe(200);
  expect((await fetch(Object.values<{ url: string }>(record.files)[0]?.url ?? "")).status).toBe(200);
});

test("a stream keeps its input, and the text of its output is previewed", async () => {
  const record = await read(await stream({ prompt: "Say it." }));
  expect(record).toMatchObject({
    mode: "stream",
    input: { prompt: "Say it." },
    output: { output: "An **answer**." },
    preview: { input: "Say it.", output: "An **answer**." },
    stream_details: { output_tokens: expect.any(Number) },
  });
  expect(record.request_id).toMatch(/^req_/);
});

test("a queued prediction shows its input while it waits, and after its end", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  llm.script = async () => {
    await held;
    return { text: "late" };
  };
  const queued = await gantry.call("POST", "/api/v1/admin/chat/predict/async/", {
    key,
    form: { prompt: "Later" },
    headers: { "x-request-id": "my-request-0002" },
  });
  const id = queued.body.prediction_id;
  const live = await read(id);
  expect(live).toMatchObject({
    status: expect.stringMatching(/waiting|running/),
    status_code: null,
    price: null,
    ended_at: null,
    input: { prompt: "Later" },
    input_state: "kept",
    request_id: "my-request-0002",
    preview: { input: "Later" },
  });
  const refused = await gantry.call("DELETE", `/api/v2/predictions/${id}`, { key });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain("Cancel it first");
  await waitFor("the prediction to run", async () => (await read(id)).status === "running");
  const listed = await gantry.call("GET", "/api/v2/predictions?status=running", { key });
  expect(listed.body.results.map((one: { id: string }) => one.id)).toContain(id);
  release();
  await waitFor("the end", async () => (await read(id)).status === "succeeded");
  llm.script = () => ({ text: "An **answer**." });
  expect(await read(id)).toMatchObject({
    input: { prompt: "Later" },
    input_state: "kept",
    request_id: "my-request-0002",
    output: { output: "late" },
    preview: { input: "Later", output: "late" },
  });
});

test.each(["predict", "predict/async/"])("%s: files are described, stored ones by their address", async (route) => {
  const uploaded = await gantry.call("POST", "/api/v1/admin/broken/upload_file", {
    key,
    form: { file: new Blob([png], { type: "image/png" }) },
  });
  const address = uploaded.body.file_input?.s3_path;
  expect(address, uploaded.text).toMatch(/^s3:/);
  const inline = { $inline: { name: "dot.png", content_type: "image/png", size: png.length, sha256 } };
  for (const [picture, kept] of [
    [new File([png], "dot.png", { type: "image/png" }), inline],
    [address, { $stored: address }],
  ] as const) {
    const called = await gantry.call("POST", `/api/v1/admin/broken/${route}`, { key, form: { prompt: "x", picture } });
    const id = called.headers.get("x-prediction-id") ?? "";
    await waitFor("the end", async () => (await read(id)).status === "failed");
    const record = await read(id);
    expect(record).toMatchObject({
      status: "failed",
      status_code: 503,
      input: { prompt: "x", picture: kept },
      request_id: called.headers.get("x-request-id"),
      output: null,
      price: 0,
    });
    expect(record.error[0]).toMatchObject({ type: expect.any(String), msg: expect.any(String) });
  }
});

test("a long input is cut and marked", async () => {
  const record = await read(await stream({ prompt: `begin ${"ä".repeat(400_000)}` }));
  expect(record.input_truncated).toBe(true);
  expect(Buffer.byteLength(JSON.stringify(record.input))).toBeLessThanOrEqual(256 * 1024);
  expect(record.input.prompt).toMatch(/^begin ä+…$/);
  const queued = await gantry.call("POST", "/api/v1/admin/chat/predict/async/", {
    key,
    form: { prompt: `begin ${"ä".repeat(300_000)}` },
  });
  await waitFor("the end", async () => (await read(queued.body.prediction_id)).status === "succeeded");
  expect(await read(queued.body.prediction_id)).toMatchObject({
    input_truncated: true,
    input: { prompt: expect.stringMatching(/^begin .*…$/) },
  });
});

test.each([
  ["the request", () => stream({ prompt: "secret" }, { "gantry-keep-input": "false" })],
  ["a misspelt request", () => stream({ prompt: "secret" }, { "gantry-keep-input": "no" })],
  ["the model", () => stream({ prompt: "secret" }, {}, key, "admin/silent")],
  [
    "the request of a queued prediction",
    async () => {
      const { body } = await gantry.call("POST", "/api/v1/admin/chat/predict/async/", {
        key,
        form: { prompt: "secret" },
        headers: { "gantry-keep-input": "false" },
      });
      await waitFor("the end", async () => (await read(body.prediction_id)).status === "succeeded");
      return body.prediction_id;
    },
  ],
  [
    "store: false",
    async () => {
      const json = { model: "admin/chat", messages: [{ role: "user", content: "secret" }], store: false };
      return (await gantry.call("POST", "/v1/chat/completions", { key, json })).headers.get("x-gantry-prediction-id");
    },
  ],
  [
    "store: false of a response",
    async () => {
      const json = { model: "admin/chat", input: "secret", store: false };
      return (await gantry.call("POST", "/v1/responses", { key, json })).headers.get("x-gantry-prediction-id");
    },
  ],
])("%s opts out, and the id of the request is known all the same", async (_who, call) => {
  const record = await read((await call()) ?? "");
  expect(record).toMatchObject({ input: null, input_state: "not_kept", preview: { input: null } });
  expect(record.request_id).toMatch(/^req_/);
  expect(JSON.stringify(record)).not.toContain("secret");
});

test("a key opts out", async () => {
  const made = await gantry.call("POST", "/api/v2/keys", { key, json: { name: "quiet", keep_inputs: false } });
  expect(made.body).toMatchObject({ keep_inputs: false });
  const record = await read(await stream({ prompt: "secret" }, {}, made.body.key));
  expect(record).toMatchObject({ input: null, input_state: "not_kept", key: { name: "quiet" } });
  const { body } = await gantry.call("GET", "/api/v2/keys", { key });
  expect(body.results.map(({ keep_inputs }: { keep_inputs: boolean }) => keep_inputs)).toEqual([false, true]);
});

test("conversations keep their messages, and images by hash", async () => {
  const messages = [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${Buffer.alloc(400, png).toString("base64")}` } },
      ],
    },
  ];
  const { headers } = await gantry.call("POST", "/v1/chat/completions", {
    key,
    json: { model: "admin/chat", messages, stream: true },
  });
  const record = await read(headers.get("x-gantry-prediction-id") ?? "");
  expect(record).toMatchObject({ door: "openai-chat", preview: { input: "What is this?", output: "An **answer**." } });
  const hash = createHash("sha256").update(Buffer.alloc(400, png)).digest("hex");
  expect(JSON.stringify(record.input)).toContain(`"sha256":"${hash}"`);
  expect(JSON.stringify(record.input)).not.toContain("base64,");
});

test("the operator switches it off for all", async () => {
  const other = await startGantry({ env: { GANTRY_KEEP_INPUTS: "0" }, beside: gantry });
  try {
    const { headers } = await other.call("POST", "/api/v1/admin/chat/predict/stream/", {
      key,
      form: { prompt: "secret" },
    });
    expect(await read(headers.get("x-prediction-id") ?? "")).toMatchObject({ input: null, input_state: "not_kept" });
  } finally {
    await other.close();
  }
});
