import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  jsonReply,
  type Reply,
  type ScriptedServer,
  type Seen,
  startScripted,
} from "../../../src/engines/models/test-upstreams/scripted-server.ts";
import { type Collector, startCollector } from "../../../src/engines/telemetry/collector.fixture.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, createModels } from "../../support/models.ts";
import { waitFor } from "../../support/wait-for.ts";

const said = { choices: [{ index: 0, delta: { content: "Hello." }, finish_reason: "stop" }] };
const spoken: Reply = {
  status: 200,
  headers: { "content-type": "text/event-stream" },
  body: `data: ${JSON.stringify(said)}\n\ndata: [DONE]\n\n`,
};

const metricsKey = "a-key-for-prometheus-alone";

let gantry: GantryNode;
let collector: Collector;
let upstream: ScriptedServer;
let answer: (seen: Seen) => Reply;
let ann: string;
let ben: string;

beforeAll(async () => {
  upstream = await startScripted((seen) => answer(seen));
  collector = await startCollector();
  gantry = await startGantry({
    env: {
      GANTRY_LLM_URL: `${upstream.url}/llm`,
      GANTRY_LLM_KEY: "operators-own-key",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      GANTRY_METRICS_KEY: metricsKey,
    },
  });
  ann = await gantry.newUser("ann");
  ben = await gantry.newUser("ben");
});
afterAll(async () => {
  await gantry.close();
  await upstream.close();
  await collector.close();
});
beforeEach(() => {
  upstream.seen.length = 0;
  answer = () => spoken;
});

async function store(name: string, value: string, key = ann): Promise<void> {
  const stored = await gantry.call("PUT", `/api/v2/secrets/${name}`, { json: { value }, key });
  expect([200, 201], stored.text).toContain(stored.status);
}

const backendOf = (more: object) => ({ type: "openai-chat", url: `${upstream.url}/v1`, model: "m-1", ...more });
const modelOf = (more: object) => chatModel(upstream.url, { backend: backendOf(more) });
const putModel = (name: string, more: object, key = ann) =>
  gantry.call("PUT", `/api/v1/ann/${name}`, { json: modelOf(more), key });
const ask = (model: string, key = ann) =>
  gantry.call("POST", "/v1/chat/completions", {
    json: { model, stream: true, messages: [{ role: "user", content: "Hi" }] },
    key,
  });

describe("servers that need headers or a query", () => {
  test("Azure OpenAI with deployments", async () => {
    answer = ({ headers, path }) => {
      if (path !== "/openai/deployments/gpt/chat/completions?api-version=2024-10-21") return jsonReply({}, 404);
      return headers["api-key"] === "azure-key-1" && headers.authorization === undefined ? spoken : jsonReply({}, 401);
    };
    await store("azure", "azure-key-1");
    const backend = {
      type: "openai-chat",
      url: `${upstream.url}/openai/deployments/gpt`,
      model: "gpt",
      headers: { "api-key": "{{secret:azure}}" },
      query: { "api-version": "2024-10-21" },
    };
    await createModels(gantry, { azure: chatModel("", { backend }) }, { name: "ann", key: ann });
    const door = await ask("ann/azure");
    expect(door.text).toContain("Hello.");
    const stream = await gantry.call("POST", "/api/v1/ann/azure/predict/stream/", { form: { prompt: "Hi" }, key: ann });
    expect(stream.text).toContain("Hello.");
  });

  test("OpenRouter with the name of the program", async () => {
    await store("openrouter", "or-key");
    const headers = { "http-referer": "https://acme.example", "x-title": "Acme's shop" };
    expect((await putModel("router", { secret: "openrouter", headers })).status).toBe(201);
    expect((await ask("ann/router")).status).toBe(200);
    expect(upstream.seen[0]?.headers).toMatchObject({ authorization: "Bearer or-key", ...headers });
  });

  test("a server with another form of authorization, which wins over the secret", async () => {
    await store("token", "t-1");
    const headers = { authorization: "Token {{secret:token}}, realm={{ secret: token }}" };
    expect((await putModel("token", { secret: "token", headers })).status).toBe(201);
    expect((await ask("ann/token")).status).toBe(200);
    const { rawHeaders = [] } = upstream.seen[0] ?? {};
    expect(rawHeaders.filter((_, at) => /^authorization$/i.test(rawHeaders[at - 1] ?? ""))).toEqual([
      "Token t-1, realm=t-1",
    ]);
  });

  test("each of several backends sends its own", async () => {
    await store("first", "secret-of-first");
    const listed = [
      { ...backendOf({ headers: { "x-first": "{{secret:first}}" } }), name: "first" },
      { ...backendOf({ headers: { "x-second": "2" } }), name: "second", priority: 1 },
    ];
    const { backend: _none, ...rest } = modelOf({});
    const json = { ...rest, backends: listed };
    const put = await gantry.call("PUT", "/api/v1/ann/several", { json, key: ann });
    expect(put.status, put.text).toBe(201);
    expect((await ask("ann/several")).status).toBe(200);
    expect(upstream.seen[0]?.headers["x-first"]).toBe("secret-of-first");
    expect(upstream.seen[0]?.headers).not.toHaveProperty("x-second");
  });

  test("a Cog server whose schemas are read", async () => {
    await store("gate", "gate-1");
    const schemas = {
      Input: { type: "object", properties: { text: { type: "string" } } },
      Output: { type: "string" },
    };
    answer = ({ headers, path }) =>
      headers["x-gate"] === "gate-1" && path === "/openapi.json?room=7"
        ? jsonReply({ components: { schemas } })
        : jsonReply({}, 401);
    const backend = { type: "cog", url: upstream.url, headers: { "x-gate": "{{secret:gate}}" }, query: { room: "7" } };
    const put = (name: string, changed: object) =>
      gantry.call("PUT", `/api/v1/ann/${name}`, {
        json: { kind: "other", backend: { ...backend, ...changed } },
        key: ann,
      });
    const made = await put("cog", {});
    expect(made.status, made.text).toBe(201);
    expect(made.body.input.properties).toHaveProperty("text");
    const missing = await put("cog-missing", { headers: { "x-gate": "{{secret:absent}}" } });
    expect([missing.status, missing.body.detail[0].msg]).toEqual([
      422,
      expect.stringContaining('The secret "absent" named in the manifest does not exist.'),
    ]);
    const wrong = await put("cog-wrong", { headers: { "x-gate": 7 } });
    expect([wrong.status, wrong.body.detail[0].loc]).toEqual([422, ["body", "backend", "headers", "x-gate"]]);
    expect(upstream.seen).toHaveLength(1);
  });
});

describe("secrets in headers and query", () => {
  test("take effect soon after a change", async () => {
    await store("rolling", "old-value");
    expect((await putModel("rolling", { query: { token: "{{secret:rolling}}" } })).status).toBe(201);
    await ask("ann/rolling");
    expect(upstream.seen.at(-1)?.path).toBe("/v1/chat/completions?token=old-value");
    await store("rolling", "new-value");
    await waitFor("the new secret", async () => {
      await ask("ann/rolling");
      return upstream.seen.at(-1)?.path === "/v1/chat/completions?token=new-value";
    });
  });

  test("are those of the model's owner, and a missing one is named to the owner only", async () => {
    await store("bens", "bens-secret", ben);
    expect((await putModel("thief", { headers: { "x-a": "{{secret:bens}}" } })).status).toBe(201);
    const own = await ask("ann/thief");
    expect([own.status, own.text]).toEqual([
      502,
      expect.stringContaining('The secret \\"bens\\" named in the manifest'),
    ]);
    const others = await ask("ann/thief", ben);
    expect(others.status).toBe(502);
    expect(others.text).not.toMatch(/\bbens\b/);
    expect(upstream.seen).toEqual([]);
  });

  test("never contain a key of the operator", async () => {
    const stored = await gantry.call("GET", "/api/v1/anthropic/default");
    for (const texts of [
      { headers: { "x-leak": "{{secret:GANTRY_LLM_KEY}}" } },
      { query: { leak: "{{secret:GANTRY_LLM_KEY}}" } },
    ]) {
      const json = {
        backend: { ...stored.body.backend, url: `${upstream.url}/elsewhere`, secret: undefined, ...texts },
      };
      const patched = await gantry.call("PATCH", "/api/v1/anthropic/default", { json });
      expect(patched.status, patched.text).toBe(200);
      expect((await ask("anthropic/default", gantry.adminKey)).status).toBe(502);
    }
    expect(upstream.seen).toEqual([]);
    const json = { backend: { ...stored.body.backend, headers: { "x-note": "kept" } } };
    expect((await gantry.call("PATCH", "/api/v1/anthropic/default", { json })).status).toBe(200);
    expect((await ask("anthropic/default", gantry.adminKey)).status).toBe(200);
    expect(upstream.seen[0]?.headers).toMatchObject({ authorization: "Bearer operators-own-key", "x-note": "kept" });
  });

  test("are hidden in answers, logs, traces and metrics when the server echoes them", async () => {
    await store("loud", "loud+secret/1");
    await store("louder", "louder&secret 2");
    const echoed = /loud\+secret|louder&secret|loud%2Bsecret|louder%26secret/i;
    const texts = { headers: { "x-loud": "Key {{secret:loud}}" }, query: { sig: "{{secret:louder}}" } };
    expect((await putModel("loud", texts)).status).toBe(201);
    for (const status of [400, 401, 500]) {
      answer = ({ rawHeaders, path }) =>
        jsonReply({ error: { message: `Your prompt is too long: ${path} ${rawHeaders.join(" ")}` } }, status);
      const refused = await ask("ann/loud");
      expect(refused.status).toBe(status === 400 ? 400 : 502);
      expect(refused.text).not.toMatch(echoed);
      if (status === 400) expect(refused.text).toContain("sig=[hidden]");
    }
    expect(`${upstream.seen[0]?.path} ${upstream.seen[0]?.rawHeaders}`).toMatch(echoed);
    const failed = () => collector.spans.filter((span) => span.attributes["http.response.status_code"] === 500);
    await waitFor("the spans of the last calls", () => failed().length > 0);
    const metrics = await gantry.call("GET", "/metrics", { key: metricsKey });
    expect(metrics.status).toBe(200);
    for (const shown of [gantry.logged(), collector.bodies.join(), metrics.text]) expect(shown).not.toMatch(echoed);
  });

  test("are shown by name to the owner and admins only", async () => {
    const texts = { headers: { "x-shown": "{{secret:shown}}" }, query: { room: "seven" } };
    expect((await putModel("shown", texts)).status).toBe(201);
    const confined = await gantry.call("POST", "/api/v2/keys", { json: { models: ["ann/shown"] }, key: ann });
    expect(confined.status, confined.text).toBe(201);
    const cardFor = (key: string) => gantry.call("GET", "/api/v1/ann/shown", { key });
    for (const key of [ann, gantry.adminKey]) expect((await cardFor(key)).body.backend).toMatchObject(texts);
    for (const key of [ben, confined.body.key]) {
      const card = await cardFor(key);
      expect(card.status).toBe(200);
      expect(card.text).not.toMatch(/x-shown|seven/);
    }
  });
});

describe("a manifest is refused", () => {
  const sentence = "Store the credential with PUT /api/v2/secrets/{name}, and write {{secret:name}} here";
  test.each<[string, object, string[]]>([
    ["a line break", { headers: { "x-a": "1\r\nx-b: 2" } }, ["headers", "x-a"]],
    ["a line break in the query", { query: { a: "1\r\n" } }, ["query", "a"]],
    ["a name with a colon", { headers: { "x-a: 1\r\nx-b": "2" } }, ["headers", "x-a: 1\r\nx-b"]],
    ["a name in capitals", { headers: { "X-Title": "a" } }, ["headers", "X-Title"]],
    ["another host", { headers: { host: "evil.example" } }, ["headers", "host"]],
    ["another length", { headers: { "content-length": "1" } }, ["headers", "content-length"]],
    ["one key for all calls", { headers: { "idempotency-key": "1" } }, ["headers", "idempotency-key"]],
    ["another format", { headers: { accept: "text/html" } }, ["headers", "accept"]],
    ["a reference to nothing", { headers: { "x-a": "{{secret:}}" } }, ["headers", "x-a"]],
    ["a nested reference", { headers: { "x-a": "{{secret:{{secret:a}}}}" } }, ["headers", "x-a"]],
    ["a parameter in a name", { query: { "a=1&b": "2" } }, ["query", "a=1&b"]],
    ["a number", { query: { a: 1 } }, ["query", "a"]],
    ["a list", { headers: ["x-a"] }, ["headers"]],
    ["too many", { query: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`q${n}`, "1"])) }, ["query"]],
  ])("with %s", async (_, texts, loc) => {
    const put = await putModel("refused", texts);
    expect(put.status, put.text).toBe(422);
    expect(put.body.detail.map((fault: { loc: unknown }) => fault.loc)).toEqual([["body", "backend", ...loc]]);
  });

  test.each([
    ["headers", "authorization", "Bearer sk-123"],
    ["headers", "api-key", "0123"],
    ["headers", "x-api-key", "sk-123"],
    ["headers", "x-goog-api-key", "AIza"],
    ["headers", "ocp-apim-subscription-key", "0123"],
    ["headers", "x-auth-token", "0123"],
    ["query", "key", "AIza"],
    ["query", "api_key", "0123"],
    ["query", "access_token", "0123"],
  ])("with a credential in %s: %s", async (part, name, value) => {
    const put = await putModel("pasted", { [part]: { [name]: value } });
    expect(put.body.detail, put.text).toEqual([
      expect.objectContaining({ loc: ["body", "backend", part, name], msg: sentence }),
    ]);
    expect(put.text).not.toContain(value);
    expect((await putModel("pasted", { [part]: { [name]: "{{secret:any}}" } })).status).toBeLessThan(300);
  });

  test("with headers or a query of a built-in model", async () => {
    const backend = { type: "builtin", model: "rules", headers: { "x-a": "1" }, query: { a: "1" } };
    const put = await gantry.call("PUT", "/api/v1/admin/built", { json: chatModel("", { backend }) });
    expect(put.body.detail.map((fault: { loc: unknown }) => fault.loc)).toEqual([
      ["body", "backend", "headers"],
      ["body", "backend", "query"],
    ]);
  });

  test("neither with names that are part of every object, which arrive as they are", async () => {
    const headers = { constructor: "a", tostring: "b" };
    const query = { toString: "c", hasOwnProperty: "d" };
    const put = await putModel("objects", { headers, query });
    expect(put.status, put.text).toBe(201);
    expect((await ask("ann/objects")).status).toBe(200);
    const seen = upstream.seen[0];
    expect(seen?.headers.constructor).toBe("a");
    expect(seen?.path).toBe("/v1/chat/completions?toString=c&hasOwnProperty=d");
  });
});
