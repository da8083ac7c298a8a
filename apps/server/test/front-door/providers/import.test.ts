import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { type ScriptedOllama, startScriptedOllama } from "../../support/scripted-ollama.ts";

let gantry: GantryNode;
let ollama: ScriptedOllama;
let ann: { key: string };

beforeAll(async () => {
  ollama = await startScriptedOllama([
    { name: "llama3.2:3b" },
    { name: "Qwen/Qwen3:8B", size: "8.2B", contextLength: 40_960 },
    { name: "qwen/qwen3:8b", size: "8.2B", contextLength: 4096 },
    { name: "gemma3:4b", capabilities: ["completion", "vision"] },
    { name: "nomic-embed-text:latest", capabilities: ["embedding"], contextLength: 2048 },
  ]);
  gantry = await startGantry();
  ann = { key: await gantry.newUser("ann") };
  const saved = await gantry.call("PUT", "/api/v2/providers/lab", {
    ...ann,
    json: { type: "ollama", url: ollama.url },
  });
  expect(saved.status, saved.text).toBe(201);
});

afterAll(async () => {
  await gantry.close();
  await ollama.close();
});

async function importFrom(provider: string, json: object = {}, by: { key?: string } = ann, base = "/api/v2/providers") {
  const answer = await gantry.call("POST", `${base}/${provider}/import`, { ...by, json });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.results;
}

async function card(endpointId: string, by: { key?: string } = ann) {
  return (await gantry.call("GET", `/api/v1/${endpointId}`, by)).body;
}

function chat(model: string) {
  return gantry.call("POST", `/api/v1/${model}/predict/stream/`, { ...ann, form: { prompt: "hi" } });
}

test("discovery lists what the upstream states, with the names that the models would get", async () => {
  const { status, body } = await gantry.call("POST", "/api/v2/providers/lab/discover", ann);
  expect(status).toBe(200);
  const names = body.models.map(({ id, name, imported }: Record<string, unknown>) => [id, name, imported]);
  expect(names).toEqual([
    ["llama3.2:3b", "llama3.2-3b", null],
    ["Qwen/Qwen3:8B", "qwen-qwen3-8b", null],
    ["qwen/qwen3:8b", "qwen-qwen3-8b-2", null],
    ["gemma3:4b", "gemma3-4b", null],
    ["nomic-embed-text:latest", "nomic-embed-text-latest", null],
  ]);
  expect(body.models[0]).toMatchObject({ kind: "text", tools: true, context_window: 131_072, pricing: null });
  expect(body.models[4]).toMatchObject({ kind: "embedding" });
});

test("imported models are private, free, callable, and have fitting inputs", async () => {
  const ids = ["llama3.2:3b", "Qwen/Qwen3:8B", "qwen/qwen3:8b", "gemma3:4b", "nomic-embed-text:latest"];
  const results = await importFrom("lab", { models: ids.map((id) => ({ id })) });
  expect(results.map(({ outcome, endpoint_id }: Record<string, unknown>) => [outcome, endpoint_id])).toEqual([
    ["created", "ann/llama3.2-3b"],
    ["created", "ann/qwen-qwen3-8b"],
    ["created", "ann/qwen-qwen3-8b-2"],
    ["created", "ann/gemma3-4b"],
    ["created", "ann/nomic-embed-text-latest"],
  ]);
  const text = await card("ann/llama3.2-3b");
  expect(text).toMatchObject({
    kind: "text",
    visibility: "private",
    context_window: 131_072,
    model_size_in_billions: 3.2,
    pricing: {},
    capacity: 4,
    backend: { type: "openai-chat", url: `${ollama.url}/v1`, model: "llama3.2:3b" },
  });
  expect(text.description).toContain("Ollama");
  expect(Object.keys(text.input.properties)).toEqual(["prompt", "system", "max_tokens", "temperature", "seed"]);
  expect(Object.keys((await card("ann/gemma3-4b")).input.properties)).toContain("image");
  // The answer cannot be longer than the window.
  expect((await card("ann/qwen-qwen3-8b-2")).input.properties.max_tokens).toMatchObject({ maximum: 4096 });
  expect(await card("ann/nomic-embed-text-latest")).toMatchObject({
    kind: "embedding",
    backend: { type: "openai-embeddings" },
  });

  ollama.llm.script = () => ({ text: "Hello from the lab" });
  const asked = await chat("ann/llama3.2-3b");
  expect(asked.text).toMatch(/Hello.* from.* the.* lab/s);
  const bob = await gantry.newUser("bob");
  expect((await gantry.call("GET", "/api/v1/ann/llama3.2-3b", { key: bob })).status).toBe(403);
  expect((await gantry.call("GET", "/api/v2/providers/lab", ann)).body).toMatchObject({ models: 5, source: "saved" });
});

test("importing again follows the upstream and keeps what was edited", async () => {
  await gantry.call("PATCH", "/api/v1/ann/llama3.2-3b", { ...ann, json: { title: "Mine", capacity: 2 } });
  const model = ollama.models.find(({ name }) => name === "llama3.2:3b");
  if (model) model.contextLength = 65_536;
  const results = await importFrom("lab");
  const byId = new Map(results.map((one: { id: string }) => [one.id, one]));
  expect(byId.get("llama3.2:3b")).toMatchObject({ outcome: "updated", kept: ["title", "capacity"] });
  expect(byId.get("gemma3:4b")).toMatchObject({ outcome: "unchanged", kept: [] });
  expect(await card("ann/llama3.2-3b")).toMatchObject({ title: "Mine", capacity: 2, context_window: 65_536 });
  // A second import changes nothing more.
  const again = await importFrom("lab");
  expect(again.map(({ outcome }: { outcome: string }) => outcome)).toEqual(Array(5).fill("unchanged"));
});

test("a field that follows the upstream again after an edit was undone follows it", async () => {
  const { title } = (await gantry.call("POST", "/api/v2/providers/lab/discover", ann)).body.models[0];
  await gantry.call("PATCH", "/api/v1/ann/llama3.2-3b", { ...ann, json: { title } });
  expect(await importFrom("lab", { models: [{ id: "llama3.2:3b" }] })).toMatchObject([{ kept: ["capacity"] }]);
});

test("a model that was deleted is created again only if it is chosen", async () => {
  await gantry.call("DELETE", "/api/v1/ann/gemma3-4b", ann);
  const results = await importFrom("lab");
  expect(results.map(({ id }: { id: string }) => id)).not.toContain("gemma3:4b");
  expect((await gantry.call("GET", "/api/v1/ann/gemma3-4b", ann)).status).toBe(404);
  expect(await importFrom("lab", { models: [{ id: "gemma3:4b" }] })).toMatchObject([{ outcome: "created" }]);
});

test("a model that is gone upstream stays, and an unknown one fails", async () => {
  const [first] = ollama.models;
  ollama.models.shift();
  expect(await importFrom("lab", { models: [{ id: "llama3.2:3b" }, { id: "nothing" }] })).toEqual([
    { id: "llama3.2:3b", endpoint_id: "ann/llama3.2-3b", outcome: "gone", kept: [], message: null },
    {
      id: "nothing",
      endpoint_id: null,
      outcome: "failed",
      kept: [],
      message: 'The provider lab does not serve "nothing".',
    },
  ]);
  expect((await gantry.call("GET", "/api/v1/ann/llama3.2-3b", ann)).status).toBe(200);
  if (first) ollama.models.unshift(first);
});

test("a changed address, secret and headers of the provider follow", async () => {
  await gantry.call("PUT", "/api/v2/secrets/gate", { ...ann, json: { value: "sesame" } });
  const json = { type: "ollama", url: `${ollama.url}/v1/`, secret: "gate", headers: { "x-gate": "{{secret:gate}}" } };
  const saved = await gantry.call("PUT", "/api/v2/providers/lab", { ...ann, json });
  expect(saved.body).toMatchObject({ url: ollama.url, secret: "gate", headers: { "x-gate": "{{secret:gate}}" } });
  await importFrom("lab", { models: [{ id: "llama3.2:3b" }] });
  expect((await card("ann/llama3.2-3b")).backend).toEqual({
    type: "openai-chat",
    url: `${ollama.url}/v1`,
    model: "llama3.2:3b",
    secret: "gate",
    headers: { "x-gate": "{{secret:gate}}" },
  });
  expect(ollama.seen.at(-1)?.headers["x-gate"]).toBe("sesame");
  ollama.seen.length = 0;
  await chat("ann/llama3.2-3b");
  expect(ollama.seen.at(-1)?.headers).toMatchObject({ "x-gate": "sesame", authorization: "Bearer sesame" });
});

test("a name of another model is never overwritten", async () => {
  const own = {
    kind: "text",
    input: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
    output: { type: "object", properties: { output: { type: "string", isStream: true } } },
    backend: { type: "openai-chat", url: "http://own.example/v1", model: "own" },
  };
  await gantry.call("PUT", "/api/v1/ann/mine", { ...ann, json: own });
  ollama.models.push({ name: "mine" });
  const [failed] = await importFrom("lab", { models: [{ id: "mine" }] });
  expect(failed).toMatchObject({ outcome: "failed", endpoint_id: null });
  expect(failed.message).toContain("ann/mine exists and was not imported");
  expect((await card("ann/mine")).backend.model).toBe("own");
  expect(await importFrom("lab", { models: [{ id: "mine", name: "mine-too" }] })).toMatchObject([
    { outcome: "created", endpoint_id: "ann/mine-too" },
  ]);
  const [other] = await importFrom("lab", { models: [{ id: "llama3.2:3b", name: "mine-too" }] });
  expect(other).toMatchObject({ outcome: "failed", message: expect.stringContaining('imported from "mine"') });
});

test("a replaced manifest counts as edited", async () => {
  const { input, output, kind } = await card("ann/mine-too");
  const backend = { type: "openai-chat", url: "http://elsewhere.example/v1", model: "x" };
  await gantry.call("PUT", "/api/v1/ann/mine-too", { ...ann, json: { kind, input, output, backend } });
  const [kept] = await importFrom("lab", { models: [{ id: "mine", name: "mine-too" }] });
  expect(kept.kept).toContain("backend");
  expect((await card("ann/mine-too")).backend).toEqual(backend);
});

test("a model that was taken down stays private", async () => {
  await gantry.call("PATCH", "/api/v1/ann/qwen-qwen3-8b", { ...ann, json: { visibility: "public" } });
  const json = { reason: "abuse" };
  expect((await gantry.call("POST", "/api/v2/admin/models/ann/qwen-qwen3-8b/take-down", { json })).status).toBe(200);
  await importFrom("lab");
  expect((await card("ann/qwen-qwen3-8b")).visibility).toBe("private");
  const [failed] = await importFrom("lab", { models: [{ id: "Qwen/Qwen3:8B", visibility: "public" }] });
  expect(failed).toMatchObject({ outcome: "failed", message: expect.stringContaining("took this model down") });
  await gantry.call("DELETE", "/api/v1/ann/qwen-qwen3-8b", ann);
  const [again] = await importFrom("lab", { models: [{ id: "Qwen/Qwen3:8B", visibility: "public" }] });
  expect(again).toMatchObject({ outcome: "failed" });
  expect(await importFrom("lab", { models: [{ id: "Qwen/Qwen3:8B" }] })).toMatchObject([{ outcome: "created" }]);
  expect((await card("ann/qwen-qwen3-8b")).visibility).toBe("private");
});

test("a chosen price stays at the next import", async () => {
  const pricing = { per_million_input_tokens: 1 };
  await importFrom("lab", { models: [{ id: "gemma3:4b", pricing, title: "Gemma" }] });
  expect(await card("ann/gemma3-4b")).toMatchObject({ pricing, title: "Gemma" });
  const [again] = await importFrom("lab", { models: [{ id: "gemma3:4b" }] });
  expect(again).toMatchObject({ outcome: "unchanged", kept: ["title", "pricing"] });
});

test("concurrent imports on two nodes create each model once", async () => {
  const other = await startGantry({ beside: gantry });
  try {
    ollama.models = Array.from({ length: 12 }, (_, n) => ({ name: `m${n}:1b` }));
    const models = ollama.models.map(({ name }) => ({ id: name }));
    const cara = { key: await gantry.newUser("cara") };
    await gantry.call("PUT", "/api/v2/providers/lab", { ...cara, json: { type: "ollama", url: ollama.url } });
    const nodes = [gantry, other, gantry, other];
    const answers = await Promise.all(
      nodes.map((node) => node.call("POST", "/api/v2/providers/lab/import", { ...cara, json: { models } })),
    );
    const outcomes = answers.flatMap(({ body }) => body.results.map(({ outcome }: { outcome: string }) => outcome));
    expect(outcomes.filter((outcome) => outcome === "created")).toHaveLength(12);
    expect(outcomes.filter((outcome) => outcome === "unchanged")).toHaveLength(36);
    expect((await gantry.call("GET", "/api/v2/providers/lab", cara)).body.models).toBe(12);
  } finally {
    await other.close();
  }
});
