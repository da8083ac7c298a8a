import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { textModels } from "../../engines/models/builtin/text-manifests.ts";
import { type Accounts, openAccounts } from "../../features/accounts/index.ts";
import { type Models, openModels, seedModels } from "../../features/models/index.ts";
import { systemClock } from "../../kernel/clock.ts";
import { createLog } from "../../kernel/log.ts";
import { createServer } from "../foundation/server.ts";
import { modelCards } from "./model-cards.ts";

const log = createLog("silent");
const adminKey = "an-operator-key-of-more-than-32-characters";
const base = "https://gantry.example";

let stored: Awaited<ReturnType<typeof testDatabase>>;
let accounts: Accounts;
let models: Models;
let app: FastifyInstance;
const keys: Record<string, string> = { admin: adminKey };

async function keyOf(username: string, reach: readonly string[] | null = null): Promise<string> {
  const unlimited = { name: "", expiresAt: null, monthlyLimitMicros: null };
  return (await accounts.createKeyFor(username, { ...unlimited, models: reach && [...reach] })).key;
}

beforeAll(async () => {
  stored = await testDatabase();
  accounts = await openAccounts({ database: stored.database, clock: systemClock, log });
  await accounts.bootstrap(adminKey);
  await seedModels(stored.database, textModels({}));
  models = await openModels({ database: stored.database, log, builtins: ["image", "rules"] });
  for (const username of ["ann", "bob"]) {
    await accounts.createUser({ username });
    keys[username] = await keyOf(username);
  }
  app = createServer({ log, publicUrl: base, authenticate: accounts.authenticate });
  const predictions = { backends: async () => [] };
  await app.register(modelCards, { models, predictions, authenticate: accounts.authenticate, version: "0.0.0" });
});

afterAll(async () => {
  await app.close();
  await models.close();
  await accounts.close();
  await stored.drop();
});

beforeEach(async () => {
  await stored.database.sql`delete from models where owner_id in
    (select id from users where username in ('ann', 'bob'))`;
  for (const name of ["m", "n", "public", "private"]) for (const owner of ["ann", "bob"]) await retire(owner, name);
});

/** The rows are gone; what this node remembers of them has to go too. */
async function retire(owner: string, name: string): Promise<void> {
  await stored.database.sql`select pg_notify('models_changed', ${`${owner}/${name}`})`;
  await expect.poll(() => models.getModel(`${owner}/${name}`)).toBeUndefined();
}

function send(method: "GET" | "PUT" | "PATCH" | "DELETE" | "POST", path: string, who?: string, body?: unknown) {
  return app.inject({
    method,
    url: path,
    headers: who === undefined ? {} : { "x-api-key": keys[who] ?? who },
    ...(body !== undefined && { payload: body as object }),
  });
}

const manifest = {
  title: "A model",
  kind: "image",
  visibility: "public",
  pricing: { per_request: 0.01, per_output: 0.5 },
  input: { type: "object", properties: { prompt: { type: "string" }, a: { type: "integer" } }, required: ["prompt"] },
  output: { type: "object", properties: { image: { type: "string", format: "binary", "x-media": "image" } } },
  backend: { type: "openai-images", url: "https://up.example/v1", model: "x", secret: "up" },
};
const noAccess = { detail: "API key does not have access to the project", status_code: 403 };
const notFound = { detail: "Project not found", status_code: 404 };

describe("401", () => {
  test.each([
    ["GET", "/api/v1"],
    ["GET", "/api/v1/gantry/text"],
    ["GET", "/api/v1/gantry/text/openapi.json"],
    ["PUT", "/api/v1/ann/m"],
    ["PATCH", "/api/v1/ann/m"],
    ["DELETE", "/api/v1/ann/m"],
  ] as const)("%s %s", async (method, path) => {
    for (const who of [undefined, "gk_nobody"]) {
      const answer = await send(method, path, who, method === "GET" ? undefined : { kind: "wrong" });
      expect(answer.statusCode).toBe(401);
      expect(answer.json()).toMatchObject({ error: { code: "unauthorized" } });
    }
  });
});

describe("PUT", () => {
  test("201 makes a model, 200 replaces it, and its card shows where it is", async () => {
    const made = await send("PUT", "/api/v1/ann/m", "ann", manifest);
    expect(made.statusCode).toBe(201);
    expect(made.json()).toMatchObject({
      ...manifest,
      endpoint_id: "ann/m",
      owner: "ann",
      name: "m",
      capacity: 1,
      version: 1,
      urls: { predict: `${base}/api/v1/ann/m/predict`, openapi: `${base}/api/v1/ann/m/openapi.json` },
    });
    const replaced = await send("PUT", "/api/v1/ann/m/", "ann", { ...manifest, pricing: {} });
    expect(replaced.statusCode).toBe(200);
    expect(replaced.json()).toMatchObject({ version: 2, pricing: {}, created_at: made.json().created_at });
    expect((await send("GET", "/api/v1/ann/m", "bob")).json()).toMatchObject({ version: 2, pricing: {} });
  });

  test("the order of the fields is kept", async () => {
    await send("PUT", "/api/v1/ann/m", "ann", manifest);
    const card = (await send("GET", "/api/v1/ann/m", "ann")).json();
    expect(Object.keys(card.input.properties)).toEqual(["prompt", "a"]);
  });

  test("an admin makes one for anybody, and for the owners of the built-in models", async () => {
    const answer = await send("PUT", "/api/v1/bob/m", "admin", {
      ...manifest,
      backend: { type: "builtin", model: "image" },
    });
    expect(answer.statusCode).toBe(201);
    expect(answer.json()).toMatchObject({ owner: "bob" });
    expect((await send("GET", "/api/v1/bob/m", "bob")).json().backend).toEqual({ type: "builtin", model: "image" });
    expect((await send("PUT", "/api/v1/gantry/own", "admin", manifest)).statusCode).toBe(201);
    expect((await send("DELETE", "/api/v1/gantry/own", "admin")).statusCode).toBe(204);
  });

  test("403 under another's name, whether the model or the user exists or not", async () => {
    await send("PUT", "/api/v1/bob/m", "bob", manifest);
    for (const path of ["/api/v1/bob/m", "/api/v1/bob/n", "/api/v1/unknown/n", "/api/v1/gantry/text"]) {
      const answer = await send("PUT", path, "ann", manifest);
      expect(answer.statusCode).toBe(403);
      expect(answer.json()).toEqual({
        detail: "Only the owner of a model or an admin may change it",
        status_code: 403,
      });
      expect(answer.headers["x-service-retryable"]).toBe("false");
    }
  });

  test("422 with every fault and its path", async () => {
    const answer = await send("PUT", "/api/v1/ann/M!", "ann", {
      ...manifest,
      capacity: 1.5,
      input: { type: "object", properties: { webhook: { type: "string" }, size: { type: "string", enum: [1] } } },
      extra: 1,
    });
    expect(answer.statusCode).toBe(422);
    expect(answer.json().detail.map((one: { loc: string[]; type: string }) => [one.loc, one.type])).toEqual(
      expect.arrayContaining([
        [["path", "model"], "value_error"],
        [["body", "capacity"], "int_parsing"],
        [["body", "input", "properties", "webhook"], "value_error"],
        [["body", "input", "properties", "size", "enum", 0], "value_error"],
        [["body", "extra"], "extra_forbidden"],
      ]),
    );
    expect(answer.json().detail).toHaveLength(5);
    expect(answer.json().detail[0].url).toBe(`${base}/docs/errors#value_error`);
  });

  test("422 for an owner that does not exist, for an admin", async () => {
    for (const owner of ["unknown", "No%20Body"]) {
      const answer = await send("PUT", `/api/v1/${owner}/m`, "admin", manifest);
      expect(answer.statusCode).toBe(422);
      expect(answer.json().detail).toMatchObject([{ loc: ["path", "owner"], type: "value_error" }]);
    }
  });

  test("422 for a built-in backend that the caller may not use, or that does not exist", async () => {
    const builtin = (model: string) => ({ ...manifest, backend: { type: "builtin", model } });
    const own = await send("PUT", "/api/v1/ann/m", "ann", builtin("image"));
    expect(own.statusCode).toBe(422);
    expect(own.json().detail).toMatchObject([{ loc: ["body", "backend", "type"], type: "value_error" }]);
    const unknown = await send("PUT", "/api/v1/ann/m", "admin", builtin("painter"));
    expect(unknown.json().detail).toMatchObject([
      { loc: ["body", "backend", "model"], type: "one_of", ctx: { expected: ["image", "rules"] } },
    ]);
  });

  test.each([
    ["no body", undefined, undefined],
    ["a list", "[]", "application/json"],
    ["broken JSON", "{", "application/json"],
    ["another content type", "<x/>", "application/xml"],
    ["text", "{}", "text/plain"],
    ["a poisoned key", '{"__proto__": {"kind": "image"}}', "application/json"],
  ])("422 for %s", async (_, payload, type) => {
    const answer = await app.inject({
      method: "PUT",
      url: "/api/v1/ann/m",
      headers: { "x-api-key": keys.ann ?? "", ...(type && { "content-type": type }) },
      ...(payload !== undefined && { payload }),
    });
    expect(answer.statusCode).toBe(422);
    expect(answer.json().detail).toMatchObject([{ loc: ["body"], type: "json_invalid" }]);
  });

  test("422 for a body that is too large, or nested too deep", async () => {
    const large = await send("PUT", "/api/v1/ann/m", "ann", { ...manifest, description: "x".repeat(300_000) });
    expect(large.json().detail).toMatchObject([{ type: "sequence_too_long" }]);
    const deep = await app.inject({
      method: "PUT",
      url: "/api/v1/ann/m",
      headers: { "x-api-key": keys.ann ?? "", "content-type": "application/json" },
      payload: `{"x-deep": ${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
    });
    expect(deep.statusCode).toBe(422);
    expect(deep.json().detail).toMatchObject([{ type: "json_invalid" }]);
  });

  test("ten at once make one model and nine replacements", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => send("PUT", "/api/v1/ann/m", "ann", manifest)));
    expect(answers.map((answer) => answer.statusCode).sort()).toEqual([...Array(9).fill(200), 201]);
    expect((await send("GET", "/api/v1/ann/m", "ann")).json().version).toBe(10);
  });
});

describe("GET one", () => {
  test("200, and the backend is shown to the owner and to admins alone", async () => {
    await send("PUT", "/api/v1/ann/m", "ann", manifest);
    expect((await send("GET", "/api/v1/ann/m", "ann")).json().backend).toEqual(manifest.backend);
    expect((await send("GET", "/api/v1/ann/m", "admin")).json().backend).toEqual(manifest.backend);
    const others = await send("GET", "/api/v1/ann/m", "bob");
    expect(others.statusCode).toBe(200);
    expect(others.json()).not.toHaveProperty("backend");
    expect(others.body).not.toContain("up.example");
  });

  test("404 for an unknown model, also for an invalid name", async () => {
    for (const path of ["ann/none", "unknown/m", "Ann/m", "ann/a%2Fb", "__proto__/constructor"]) {
      const answer = await send("GET", `/api/v1/${path}`, "ann");
      expect(answer.statusCode).toBe(404);
      expect(answer.json()).toEqual(notFound);
    }
  });

  test("403 for a private model, for an admin too", async () => {
    await send("PUT", "/api/v1/ann/private", "ann", { ...manifest, visibility: "private" });
    for (const who of ["bob", "admin"]) {
      for (const path of ["/api/v1/ann/private", "/api/v1/ann/private/openapi.json"]) {
        const answer = await send("GET", path, who);
        expect(answer.statusCode).toBe(403);
        expect(answer.json()).toEqual(noAccess);
      }
    }
    expect((await send("GET", "/api/v1/ann/private", "ann")).statusCode).toBe(200);
  });

  test("a model that is not active is shown but not called", async () => {
    await send("PUT", "/api/v1/ann/m", "ann", { ...manifest, capacity: 0 });
    expect((await send("GET", "/api/v1/ann/m", "bob")).json().capacity).toBe(0);
    const caller = await accounts.authenticate(keys.bob ?? "");
    await expect(models.resolveForCall(caller, "ann", "m")).rejects.toMatchObject({
      status: 403,
      message: "Project is not active",
    });
  });
});

describe("the list", () => {
  beforeEach(async () => {
    await send("PUT", "/api/v1/ann/public", "ann", manifest);
    await send("PUT", "/api/v1/ann/private", "ann", { ...manifest, visibility: "private", title: "100% Hidden_one" });
  });
  const ids = async (query: string, who: string) =>
    (await send("GET", `/api/v1${query}`, who)).json().results.map((card: { endpoint_id: string }) => card.endpoint_id);
  const builtIn = ["anthropic/default", "gantry/rules", "gantry/text"];

  test("public models and one's own, an admin's list too", async () => {
    expect(await ids("", "ann")).toEqual(["ann/private", "ann/public", ...builtIn].sort());
    expect(await ids("", "bob")).toEqual(["ann/public", ...builtIn].sort());
    expect(await ids("/", "admin")).toEqual(["ann/public", ...builtIn].sort());
  });

  test("pages, filters, and the whole envelope", async () => {
    const answer = await send("GET", "/api/v1?page=2&page_size=2", "bob");
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ page: 2, page_size: 2, total_count: 4, total_pages: 2 });
    expect(answer.json().results).toHaveLength(2);
    expect((await send("GET", "/api/v1?page=9", "bob")).json()).toMatchObject({ results: [], total_count: 4 });
    expect(await ids("?kind=text", "bob")).toEqual(builtIn);
    expect(await ids("?q=ANN/", "ann")).toEqual(["ann/private", "ann/public"]);
    expect(await ids("?q=0%25%20hidden_", "ann")).toEqual(["ann/private"]);
    expect(await ids("?q=hidden_", "bob")).toEqual([]);
    expect(answer.body).not.toContain("backend");
  });

  test("422 for a wrong query", async () => {
    for (const [query, name, msg] of [
      ["page=0", "page", /at least 1/],
      ["page_size=101", "page_size", /at most 100/],
      ["page=x", "page", /whole number/],
      ["kind=sound", "kind", /one of/],
      ["q=a&q=b", "q", /single value/],
      [`q=${"x".repeat(201)}`, "q", /At most 200/],
    ] as const) {
      const answer = await send("GET", `/api/v1?${query}`, "bob");
      expect(answer.statusCode).toBe(422);
      expect(answer.json().detail).toMatchObject([{ loc: ["query", name], msg: expect.stringMatching(msg) }]);
    }
  });
});

describe("PATCH", () => {
  beforeEach(async () => {
    await send("PUT", "/api/v1/ann/m", "ann", manifest);
  });

  test("200: fields are replaced whole, null goes back to the default, the rest stays", async () => {
    const answer = await send("PATCH", "/api/v1/ann/m", "ann", {
      pricing: { per_second: 0.002 },
      title: null,
      visibility: null,
    });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({
      title: "m",
      visibility: "private",
      pricing: { per_second: 0.002 },
      input: manifest.input,
      version: 2,
    });
    expect(answer.json().pricing).not.toHaveProperty("per_request");
  });

  test("an optional field is taken away by null", async () => {
    const text = { type: "object", properties: { output: { type: "string", isStream: true } } };
    await send("PATCH", "/api/v1/ann/m", "ann", { kind: "text", output: text, context_window: 1000 });
    expect((await send("GET", "/api/v1/ann/m", "ann")).json().context_window).toBe(1000);
    const without = await send("PATCH", "/api/v1/ann/m", "ann", { context_window: null });
    expect(without.json()).not.toHaveProperty("context_window");
  });

  test("nothing to change changes nothing", async () => {
    expect((await send("PATCH", "/api/v1/ann/m", "ann", {})).json().version).toBe(1);
    expect((await send("PATCH", "/api/v1/ann/m", "ann", { title: "A model" })).json().version).toBe(1);
  });

  test("two at once both take effect", async () => {
    await Promise.all([
      send("PATCH", "/api/v1/ann/m", "ann", { title: "New" }),
      send("PATCH", "/api/v1/ann/m", "ann", { capacity: 7 }),
    ]);
    expect((await send("GET", "/api/v1/ann/m", "ann")).json()).toMatchObject({ title: "New", capacity: 7, version: 3 });
  });

  test("an admin patches anyone's, the owner keeps what an admin gave", async () => {
    const given = await send("PATCH", "/api/v1/ann/m", "admin", { backend: { type: "builtin", model: "image" } });
    expect(given.statusCode).toBe(200);
    expect((await send("PATCH", "/api/v1/ann/m", "ann", { title: "Mine" })).statusCode).toBe(200);
    expect(
      (await send("PATCH", "/api/v1/ann/m", "ann", { backend: { type: "builtin", model: "rules" } })).statusCode,
    ).toBe(422);
  });

  test("403, 404 and 422", async () => {
    expect((await send("PATCH", "/api/v1/ann/m", "bob", { title: "x" })).statusCode).toBe(403);
    expect((await send("PATCH", "/api/v1/ann/none", "ann", { title: "x" })).json()).toEqual(notFound);
    const wrong = await send("PATCH", "/api/v1/ann/m", "ann", { kind: null, capacity: "x", colour: "red" });
    expect(wrong.statusCode).toBe(422);
    expect(wrong.json().detail.map((one: { loc: string[] }) => one.loc.join("."))).toEqual([
      "body.kind",
      "body.capacity",
      "body.colour",
    ]);
    expect((await send("PATCH", "/api/v1/ann/m", "ann", [])).json().detail).toMatchObject([{ type: "json_invalid" }]);
    expect((await send("GET", "/api/v1/ann/m", "ann")).json().version).toBe(1);
  });
});

describe("DELETE", () => {
  test("204, then 404 everywhere, and the name may be used again by another row", async () => {
    await send("PUT", "/api/v1/ann/m", "ann", manifest);
    const before = await models.getModel("ann/m");
    const answer = await send("DELETE", "/api/v1/ann/m", "ann");
    expect(answer.statusCode).toBe(204);
    expect(answer.body).toBe("");
    for (const [method, path] of [
      ["GET", "/api/v1/ann/m"],
      ["GET", "/api/v1/ann/m/openapi.json"],
      ["PATCH", "/api/v1/ann/m"],
      ["DELETE", "/api/v1/ann/m"],
    ] as const) {
      const gone = await send(method, path, "ann", method === "PATCH" ? {} : undefined);
      expect(gone.json()).toEqual(notFound);
    }
    expect((await send("PUT", "/api/v1/ann/m", "ann", manifest)).statusCode).toBe(201);
    const after = await models.getModel("ann/m");
    expect(after?.version).toBe(1);
    expect(after?.id).not.toBe(before?.id);
  });

  test("403 for who is neither its owner nor an admin", async () => {
    await send("PUT", "/api/v1/ann/m", "ann", manifest);
    expect((await send("DELETE", "/api/v1/ann/m", "bob")).statusCode).toBe(403);
    expect((await send("DELETE", "/api/v1/ann/m", "admin")).statusCode).toBe(204);
  });
});

describe("a key limited to some models", () => {
  test("reaches no other, not even its owner's", async () => {
    await send("PUT", "/api/v1/ann/m", "ann", manifest);
    await send("PUT", "/api/v1/ann/n", "ann", manifest);
    const narrow = await keyOf("ann", ["ann/m", "gantry/text"]);
    expect((await send("GET", "/api/v1/ann/m", narrow)).statusCode).toBe(200);
    for (const [method, path] of [
      ["GET", "/api/v1/ann/n"],
      ["GET", "/api/v1/gantry/rules/openapi.json"],
    ] as const) {
      const answer = await send(method, path, narrow);
      expect(answer.statusCode).toBe(403);
      expect(answer.json()).toEqual(noAccess);
    }
    const listed = (await send("GET", "/api/v1", narrow)).json();
    expect(listed.results.map((card: { endpoint_id: string }) => card.endpoint_id)).toEqual(["ann/m", "gantry/text"]);
    expect(listed.total_count).toBe(2);
  });

  test("sees no backend, of its owner's models or as an admin", async () => {
    await send("PUT", "/api/v1/ann/m", "ann", manifest);
    for (const username of ["ann", "admin"]) {
      const narrow = await keyOf(username, ["ann/m"]);
      expect((await send("GET", "/api/v1/ann/m", narrow)).json()).not.toHaveProperty("backend");
      expect((await send("GET", "/api/v1", narrow)).body).not.toContain("backend");
    }
  });
});

test("405 names the methods that a path has", async () => {
  for (const [method, path, allowed] of [
    ["POST", "/api/v1", "GET, HEAD"],
    ["POST", "/api/v1/ann/m", "GET, HEAD, PUT, PATCH, DELETE"],
    ["DELETE", "/api/v1/ann/m/openapi.json", "GET, HEAD"],
  ] as const) {
    const answer = await send(method, path, "ann");
    expect(answer.statusCode).toBe(405);
    expect(answer.headers.allow).toBe(allowed);
  }
});

test("openapi.json is the document of that model under the address of the request", async () => {
  await send("PUT", "/api/v1/ann/m", "ann", manifest);
  const answer = await send("GET", "/api/v1/ann/m/openapi.json", "bob");
  expect(answer.statusCode).toBe(200);
  expect(answer.headers["content-type"]).toMatch(/^application\/json/);
  expect(answer.json()).toMatchObject({
    openapi: "3.1.0",
    info: { title: "A model", version: "1.0.0" },
    servers: [{ url: `${base}/api/v1/ann/m` }],
    components: { schemas: { DynamicInputModel: manifest.input, DynamicOutputModel: manifest.output } },
  });
  expect(answer.body).not.toContain("up.example");
});
