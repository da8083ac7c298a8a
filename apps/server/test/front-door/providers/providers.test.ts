import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { type ScriptedOllama, startScriptedOllama } from "../../support/scripted-ollama.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let ollama: ScriptedOllama;
let ann: { key: string };
let bob: { key: string };

beforeAll(async () => {
  ollama = await startScriptedOllama([{ name: "llama3.2:3b" }]);
  gantry = await startGantry({
    env: {
      GANTRY_ALLOW_PRIVATE_NETWORK: "1",
      OPENAI_API_KEY: "sk-of-the-operator-openai",
      GEMINI_API_KEY: "of-the-operator-gemini",
    },
  });
  ann = { key: await gantry.newUser("ann") };
  bob = { key: await gantry.newUser("bob") };
});

afterAll(async () => {
  await gantry.close();
  await ollama.close();
});

const mine = "/api/v2/providers";
const shared = "/api/v2/admin/providers";
const call = (method: string, path: string, options = {}) => gantry.call(method, path, options);

test("a provider is created, read, listed, replaced and deleted by its owner", async () => {
  const json = { type: "ollama", url: `${ollama.url}/api/tags`, headers: { "x-team": "a" } };
  const created = await call("PUT", `${mine}/lab`, { ...ann, json });
  expect(created.status, created.text).toBe(201);
  expect(created.body).toMatchObject({
    name: "lab",
    owner: "ann",
    type: "ollama",
    source: "saved",
    url: ollama.url,
    secret: null,
    headers: { "x-team": "a" },
    query: {},
    models: 0,
  });
  expect((await call("GET", `${mine}/lab`, ann)).body).toEqual(created.body);
  expect((await call("GET", mine, ann)).body).toMatchObject({ results: [created.body], total_count: 1 });
  const replaced = await call("PUT", `${mine}/lab`, { ...ann, json: { type: "ollama" } });
  expect(replaced.status).toBe(200);
  expect(replaced.body).toMatchObject({ url: null, headers: {}, created_at: created.body.created_at });
  for (const [method, path] of [
    ["GET", `${mine}/lab`],
    ["DELETE", `${mine}/lab`],
    ["POST", `${mine}/lab/test`],
    ["POST", `${mine}/lab/discover`],
    ["POST", `${mine}/lab/import`],
  ] as const) {
    const answer = await call(method, path, bob);
    expect([answer.status, answer.body.detail], path).toEqual([404, "Provider not found"]);
  }
  expect((await call("DELETE", `${mine}/lab`, ann)).status).toBe(204);
  expect((await call("GET", `${mine}/lab`, ann)).status).toBe(404);
});

test.each([
  ["an unknown type", "x", { type: "nothing" }, ["body", "type"]],
  ["a missing address", "x", { type: "vllm" }, ["body", "url"]],
  ["a missing key", "x", { type: "openai" }, ["body", "secret"]],
  ["credentials in the address", "x", { type: "ollama", url: "http://a:b@gpu.example" }, ["body", "url"]],
  ["another protocol", "x", { type: "ollama", url: "file:///etc/passwd" }, ["body", "url"]],
  ["a line break in a header", "x", { type: "ollama", headers: { "x-a": "a\r\nb" } }, ["body", "headers", "x-a"]],
  ["a pasted key", "x", { type: "ollama", headers: { "api-key": "sk-1" } }, ["body", "headers", "api-key"]],
  ["an unknown field", "x", { type: "ollama", key: "sk-1" }, ["body", "key"]],
  ["a wrong name", "X%20y", { type: "ollama" }, ["path", "name"]],
])("refuses %s", async (_, name, json, loc) => {
  const answer = await call("PUT", `${mine}/${name}`, { ...ann, json });
  expect(answer.status, answer.text).toBe(422);
  expect(answer.body.detail.map((issue: { loc: unknown }) => issue.loc)).toContainEqual(loc);
});

test("the operator's providers are shown to all without their settings, and managed by admins", async () => {
  const json = { type: "ollama", url: ollama.url, secret: "house", headers: { "x-team": "a" } };
  expect((await call("PUT", `${shared}/house`, { ...ann, json })).status).toBe(403);
  expect((await call("GET", "/api/v2/admin/secrets", ann)).status).toBe(403);
  const created = await call("PUT", `${shared}/house`, { json });
  expect(created.body).toMatchObject({ owner: "gantry", url: ollama.url, secret: "house" });
  const seen = (await call("GET", mine, ann)).body.results;
  expect(seen).toMatchObject([
    { name: "house", owner: "gantry", type: "ollama", url: null, secret: null, headers: {}, query: {} },
  ]);
  const names = (await call("GET", mine)).body.results.map(({ name, source }: Record<string, string>) => [
    name,
    source,
  ]);
  expect(names).toEqual([
    ["gemini", "environment"],
    ["house", "saved"],
    ["openai", "environment"],
  ]);
  // The secret is the operator's, not the admin's.
  await call("PUT", "/api/v2/secrets/house", { json: { value: "of-admin" } });
  const missing = await call("POST", `${shared}/house/test`);
  expect(missing.body).toEqual({
    ok: false,
    message: 'The secret "house" of the provider house does not exist. Store it with PUT /api/v2/admin/secrets/house.',
    latency_ms: null,
  });
  expect((await call("POST", `${shared}/house/discover`)).status).toBe(502);
  const stored = await call("PUT", "/api/v2/admin/secrets/house", { json: { value: "of-operator" } });
  expect(stored.status).toBe(201);
  expect((await call("GET", "/api/v2/admin/secrets")).body.results).toMatchObject([{ name: "house" }]);
  ollama.seen.length = 0;
  expect((await call("POST", `${shared}/house/test`)).body).toMatchObject({ ok: true });
  expect(ollama.seen[0]?.headers).toMatchObject({ authorization: "Bearer of-operator", "x-team": "a" });
});

test("models of the operator's provider are public and belong to gantry", async () => {
  const [created] = (await call("POST", `${shared}/house/import`, { json: { models: [{ id: "llama3.2:3b" }] } })).body
    .results;
  expect(created).toMatchObject({ outcome: "created", endpoint_id: "gantry/llama3.2-3b" });
  ollama.llm.script = () => ({ text: "for all" });
  const form = { prompt: "hi" };
  const asked = await call("POST", "/api/v1/gantry/llama3.2-3b/predict/stream/", { ...bob, form });
  expect(asked.text).toContain("for");
  expect(ollama.seen.at(-1)?.headers).toMatchObject({ authorization: "Bearer of-operator" });
  await call("DELETE", "/api/v2/admin/secrets/house");
  const taken = await call("POST", `${shared}/house/import`, {
    json: { models: [{ id: "llama3.2:3b", name: "text" }] },
  });
  expect(taken.status).toBe(502);
});

test("a built-in model is never overwritten", async () => {
  await call("PUT", `${shared}/house`, { json: { type: "ollama", url: ollama.url } });
  const json = { models: [{ id: "llama3.2:3b", name: "text" }] };
  const [failed] = (await call("POST", `${shared}/house/import`, { json })).body.results;
  expect(failed).toMatchObject({ outcome: "failed", message: expect.stringContaining("gantry/text exists") });
});

test("providers of the environment are fixed, and their keys stay out of the database", async () => {
  const openai = await call("GET", `${shared}/openai`);
  expect(openai.body).toMatchObject({ source: "environment", secret: "OPENAI_API_KEY", url: null });
  const put = await call("PUT", `${shared}/openai`, { json: { type: "ollama", url: ollama.url } });
  expect([put.status, put.body.detail]).toEqual([
    409,
    "The provider openai comes from OPENAI_API_KEY in the server's environment. Choose another name.",
  ]);
  expect((await call("DELETE", `${shared}/openai`)).status).toBe(409);
  expect((await call("GET", `${mine}/openai`)).status).toBe(404);
  const tables = await gantry.database.sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = current_schema()`;
  for (const { name } of tables) {
    const rows = await gantry.database.sql.unsafe<{ found: number }[]>(
      `select count(*)::int as found from "${name}" t where strpos(t::text, 'sk-of-the-operator-openai') > 0`,
    );
    expect(rows[0]?.found, name).toBe(0);
  }
});

test("a key of the environment goes to no other address", async () => {
  const json = { type: "openai", url: `${ollama.url}/v1`, secret: "OPENAI_API_KEY" };
  await call("PUT", `${shared}/trap`, { json });
  ollama.seen.length = 0;
  const tested = await call("POST", `${shared}/trap/test`);
  expect(tested.body).toMatchObject({ ok: false, message: expect.stringContaining('"OPENAI_API_KEY"') });
  // Nor does a reference in a header, at any address.
  await call("PUT", `${shared}/trap`, {
    json: { type: "ollama", url: ollama.url, headers: { authorization: "Bearer {{secret:OPENAI_API_KEY}}" } },
  });
  expect((await call("POST", `${shared}/trap/test`)).body).toMatchObject({ ok: false });
  expect(ollama.seen).toEqual([]);
  // A user's secret of that name is the user's own.
  const own = { ...ann, json: { type: "openai", url: `${ollama.url}/v1`, secret: "OPENAI_API_KEY" } };
  await call("PUT", `${mine}/trap`, own);
  expect((await call("POST", `${mine}/trap/discover`, ann)).status).toBe(502);
  expect(ollama.seen).toEqual([]);
});

test("a vendor's model needs a price before the operator offers it", async () => {
  const server = await startScriptedOllama([{ name: "gpt-5" }]);
  const json = { type: "openai", url: `${server.url}/v1`, secret: "vendor" };
  await call("PUT", "/api/v2/admin/secrets/vendor", { json: { value: "sk-1" } });
  await call("PUT", `${shared}/vendor`, { json });
  const [failed] = (await call("POST", `${shared}/vendor/import`, { json: { models: [{ id: "gpt-5" }] } })).body
    .results;
  expect(failed).toMatchObject({ outcome: "failed", message: expect.stringContaining("Give a price") });
  const pricing = { per_million_input_tokens: 2, per_million_output_tokens: 8 };
  const models = [{ id: "gpt-5", pricing }];
  expect((await call("POST", `${shared}/vendor/import`, { json: { models } })).body.results).toMatchObject([
    { outcome: "created" },
  ]);
  expect((await call("POST", `${shared}/vendor/import`)).body.results).toMatchObject([
    { outcome: "unchanged", kept: ["pricing"] },
  ]);
  expect((await call("GET", "/api/v1/gantry/gpt-5", ann)).body).toMatchObject({ pricing, capacity: 64 });
  // With a key of their own, users need no price.
  await call("PUT", "/api/v2/secrets/vendor", { ...ann, json: { value: "sk-2" } });
  await call("PUT", `${mine}/vendor`, { ...ann, json });
  const own = await call("POST", `${mine}/vendor/import`, { ...ann, json: { models: [{ id: "gpt-5" }] } });
  expect(own.body.results, own.text).toMatchObject([{ outcome: "created", endpoint_id: "ann/gpt-5" }]);
  await server.close();
});

test("failures of the upstream are a sentence", async () => {
  const server = await startScriptedOllama([{ name: "a" }]);
  await call("PUT", `${mine}/bad`, { ...ann, json: { type: "ollama", url: server.url } });
  server.list = { status: 200, body: "<html>sign in</html>" };
  const page = await call("POST", `${mine}/bad/discover`, ann);
  expect(page.status).toBe(502);
  expect(page.text).not.toContain("sign in");
  server.list = { status: 200, body: `{"models":${"[".repeat(50_000)}` };
  expect((await call("POST", `${mine}/bad/import`, ann)).status).toBe(502);
  server.list = { status: 200, body: JSON.stringify({ models: [{ name: "x".repeat(300) }, { name: 7 }, null] }) };
  const odd = await call("POST", `${mine}/bad/discover`, ann);
  expect([200, 502]).toContain(odd.status);
  await server.close();
  const gone = await call("POST", `${mine}/bad/discover`, ann);
  expect(gone.status).toBe(503);
  expect(gone.body.detail[0].msg).toContain("ollama serve");
  expect((await call("POST", `${mine}/bad/test`, ann)).body).toMatchObject({
    ok: false,
    message: expect.stringContaining("ollama serve"),
  });
});

test("the upstream call ends when the client leaves", async () => {
  const server = await startScriptedOllama([{ name: "a" }]);
  server.list = "hang";
  await call("PUT", `${mine}/slow`, { ...ann, json: { type: "ollama", url: server.url } });
  const leaving = new AbortController();
  const asking = gantry.fetch("POST", `${mine}/slow/discover`, { ...ann, signal: leaving.signal });
  await waitFor("the call", () => server.seen.some(({ path }) => path === "/api/tags"));
  leaving.abort();
  await expect(asking).rejects.toThrow();
  await waitFor("the end of the call", () => server.left > 0);
  await server.close();
});

test("a user cannot make any number of calls at once", async () => {
  const server = await startScriptedOllama([{ name: "a" }]);
  server.list = "hang";
  await call("PUT", `${mine}/slow`, { ...ann, json: { type: "ollama", url: server.url } });
  const leaving = new AbortController();
  const options = { ...ann, signal: leaving.signal };
  const asking = Array.from({ length: 24 }, () =>
    gantry.fetch("POST", `${mine}/slow/discover`, options).catch(() => undefined),
  );
  const refused = await Promise.race(asking);
  expect(refused?.status).toBe(503);
  expect(await refused?.text()).toContain("Too many calls to your providers are under way. Try again later.");
  const lists = () => server.seen.filter(({ path }) => path === "/api/tags").length;
  await waitFor("the first calls", () => lists() === 4);
  // Others are not held up.
  await call("PUT", `${mine}/fast`, { ...bob, json: { type: "ollama", url: ollama.url } });
  expect((await call("POST", `${mine}/fast/discover`, bob)).status).toBe(200);
  expect(lists()).toBe(4);
  leaving.abort();
  await Promise.all(asking);
  await server.close();
});

test("a user has at most 100 providers", async () => {
  const dan = { key: await gantry.newUser("dan") };
  const userId = (await call("GET", "/api/v2/me", dan)).body.id;
  await gantry.database.sql`
    insert into providers (owner_id, name, type) select ${userId}, 'p' || n, 'ollama' from generate_series(1, 100) n`;
  const answer = await call("PUT", `${mine}/one-more`, { ...dan, json: { type: "ollama" } });
  expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ["path", "name"]]);
  expect((await call("PUT", `${mine}/p7`, { ...dan, json: { type: "lmstudio" } })).status).toBe(200);
  expect((await call("GET", `${mine}?page=2&page_size=30`, dan)).body).toMatchObject({ page: 2, page_size: 30 });
});
