import { agentCard, agentRecord, newId } from "@gantry/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type AgentsUnderTest,
  agentsUnderTest,
  textManifest,
  wholeAgent as whole,
} from "../../../test/support/agents.ts";

let bench: AgentsUnderTest;
beforeAll(async () => {
  bench = await agentsUnderTest({
    drives: { ann: ["drv_ann"], bob: ["drv_bob"] },
    toolServers: { ann: ["mcp_ann"], bob: ["mcp_bob"] },
  });
  for (const username of ["ann", "bob", "cyd"]) await bench.newUser(username);
});
afterAll(() => bench.close());

const call: AgentsUnderTest["call"] = (...args) => bench.call(...args);
const make: AgentsUnderTest["makeAgent"] = (...args) => bench.makeAgent(...args);

const notFound = { error: { type: "not_found", code: "not_found", message: "Agent not found" } };
const unknownAgent = newId("agent");

describe("401, 404, 405", () => {
  const paths = [
    ["POST", "/v1/agents"],
    ["GET", "/v1/agents"],
    ["GET", `/v1/agents/${unknownAgent}`],
    ["PATCH", `/v1/agents/${unknownAgent}`],
    ["DELETE", `/v1/agents/${unknownAgent}`],
    ["POST", `/v1/agents/${unknownAgent}/publish`],
    ["GET", `/v1/agents/${unknownAgent}/revisions`],
    ["GET", `/v1/agents/${unknownAgent}/revisions/rev_x`],
    ["GET", `/v1/agents/${unknownAgent}/revisions/rev_x/diff`],
    ["GET", "/v1/marketplace/agents"],
    ["GET", "/v1/tools"],
  ] as const;

  test.each(paths)("401 %s %s", async (method, path) => {
    for (const who of [undefined, "gk_nobody"]) {
      const answer = await call(method, path, who);
      expect(answer.status).toBe(401);
      expect(answer.body.error).toMatchObject({ type: "unauthorized", code: "unauthorized" });
      expect(answer.headers["x-request-id"]).toMatch(/^req_/);
    }
  });

  test("the key is taken in each of its three spellings", async () => {
    const key = await bench.newUser("ann");
    for (const headers of [{ "X-API-KEY": key }, { authorization: `Bearer ${key}` }, { authorization: key }]) {
      expect((await bench.app.inject({ url: "/v1/agents", headers })).statusCode).toBe(200);
    }
  });

  test.each(paths.filter(([, path]) => path.includes(unknownAgent)))("404 %s %s", async (method, path) => {
    const body = method === "PATCH" ? { name: "x" } : undefined;
    for (const id of [unknownAgent, "x", "a".repeat(300)]) {
      const answer = await call(method, path.replace(unknownAgent, id), "ann", body);
      expect([answer.status, answer.body]).toEqual([404, notFound]);
    }
  });

  test("an unknown path is 404, an unknown method 405, both in the platform's dialect", async () => {
    expect((await call("GET", "/v1/nothing", "ann")).body).toEqual({
      error: { type: "not_found", code: "not_found", message: "Not found" },
    });
    const answer = await call("PUT", "/v1/agents/", "ann", {});
    expect(answer.status).toBe(405);
    expect(answer.body.error.type).toBe("method_not_allowed");
    expect(answer.headers.allow).toBe("GET, HEAD, POST");
  });

  test("an address that cannot be read is 404 in the platform's words, and elsewhere in those of that place", async () => {
    const words = { error: { type: "not_found", code: "not_found", message: "Not found" } };
    for (const [method, path] of [
      ["GET", "/v1/agents/%ZZ"],
      ["GET", `/v1/agents/${"a".repeat(3000)}`],
      ["POST", "/v1/agents/%ZZ/publish"],
      ["GET", "/v1/%ZZ?x=1"],
    ] as const) {
      const answer = await call(method, path, "ann");
      expect([answer.status, answer.body], path).toEqual([404, words]);
      expect(answer.headers["x-request-id"]).toMatch(/^req_/);
    }
    for (const path of ["/api/v1/%ZZ", "/v10/%ZZ"]) {
      expect((await call("GET", path, "ann")).body, path).toEqual({ detail: "Not found", status_code: 404 });
    }
  });
});

describe("GET /agents", () => {
  test("the caller's own, newest first, in pages, by visibility", async () => {
    await bench.newUser("dan");
    const ids = [];
    for (const visibility of ["private", "public", "private", "public", "private"]) {
      ids.unshift(await make("dan", { visibility }));
    }
    const all = await call("GET", "/v1/agents/", "dan");
    expect(all.status).toBe(200);
    expect(all.body).toMatchObject({ total: 5, limit: 20, offset: 0 });
    expect(all.body.agents.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(agentRecord.strict().array().parse(all.body.agents)).toEqual(all.body.agents);
    const page = await call("GET", "/v1/agents?limit=2&offset=1", "dan");
    expect(page.body).toMatchObject({ total: 5, limit: 2, offset: 1 });
    expect(page.body.agents.map(({ id }: { id: string }) => id)).toEqual(ids.slice(1, 3));
    const shared = await call("GET", "/v1/agents?visibility=public", "dan");
    expect(shared.body.agents.map(({ id }: { id: string }) => id)).toEqual([ids[1], ids[3]]);
    expect(shared.body.total).toBe(2);
    expect((await call("GET", "/v1/agents?offset=50", "dan")).body).toMatchObject({ agents: [], total: 5 });
  });

  test("400 with every wrong parameter", async () => {
    const answer = await call("GET", "/v1/agents?limit=0&offset=-1&visibility=secret", "ann");
    expect(answer.status).toBe(400);
    expect(answer.body.error.details.map(({ loc }: { loc: unknown[] }) => loc.join("."))).toEqual([
      "query.limit",
      "query.offset",
      "query.visibility",
    ]);
    for (const query of ["limit=101", "limit=x", "limit=1.5", "limit=1&limit=2", "offset=99999999999", "limit="]) {
      expect((await call("GET", `/v1/agents?${query}`, "ann")).status).toBe(400);
    }
  });
});

describe("PATCH /agents/{id}", () => {
  test("changes the given fields in a new draft, the visibility at once, and never the slug", async () => {
    const id = await make("ann", whole);
    const before = (await call("GET", `/v1/agents/${id}`, "ann")).body;
    const answer = await call("PATCH", `/v1/agents/${id}`, "ann", {
      name: "Another",
      output_schema: null,
      instructions: { planning: "Only this." },
      visibility: "public",
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      ...before,
      name: "Another",
      output_schema: null,
      instructions: { planning: "Only this." },
      visibility: "public",
      latest_revision_id: expect.not.stringMatching(before.latest_revision_id),
      updated_at: expect.any(String),
    });
    expect((await call("GET", `/v1/agents/${id}`, "ann")).body).toEqual(answer.body);
    const { revisions } = (await call("GET", `/v1/agents/${id}/revisions`, "ann")).body;
    expect(revisions.map(({ status }: { status: string }) => status)).toEqual(["draft", "draft"]);
  });

  test("every accepted change is a revision, also one of the visibility alone or of nothing new", async () => {
    const id = await make("ann");
    await call("PATCH", `/v1/agents/${id}`, "ann", { visibility: "public" });
    await call("PATCH", `/v1/agents/${id}`, "ann", { name: "Agent" });
    expect((await call("GET", `/v1/agents/${id}/revisions`, "ann")).body.total).toBe(3);
  });

  test("400 for an empty one and for every fault, and nothing is changed", async () => {
    const id = await make("ann");
    const before = (await call("GET", `/v1/agents/${id}`, "ann")).body;
    expect((await call("PATCH", `/v1/agents/${id}`, "ann", {})).status).toBe(400);
    expect((await call("PATCH", `/v1/agents/${id}`, "ann")).status).toBe(400);
    const answer = await call("PATCH", `/v1/agents/${id}`, "ann", {
      goal: "{{> x}}",
      tools: ["nothing"],
      status: "published",
      name: 7,
    });
    expect(answer.status).toBe(400);
    expect(answer.body.error.details.map(({ loc }: { loc: unknown[] }) => loc.join("."))).toEqual([
      "body.name",
      "body.status",
      "body.goal",
      "body.tools.0",
    ]);
    expect((await call("GET", `/v1/agents/${id}`, "ann")).body).toEqual(before);
  });

  test("what no longer holds warns, and does not keep other fields from being changed", async () => {
    await bench.models.putModel(await caller("ann"), "ann", "passing", textManifest);
    const id = await make("ann", { model: "ann/passing" });
    await bench.models.deleteModel(await caller("ann"), "ann", "passing");
    const answer = await call("PATCH", `/v1/agents/${id}`, "ann", { name: "Still" });
    expect(answer.status).toBe(200);
    expect(answer.body.warnings).toEqual([{ field: "model", message: expect.stringContaining("ann/passing") }]);
    expect((await call("PATCH", `/v1/agents/${id}`, "ann", { model: "ann/passing" })).status).toBe(400);
  });

  test("of two that would close a circle at the same moment one is refused", async () => {
    for (let round = 0; round < 5; round++) {
      const [a, b] = await Promise.all([make("ann"), make("ann")]);
      const bind = (from: string, to: string) =>
        call("PATCH", `/v1/agents/${from}`, "ann", { tools: [{ type: "agent", agent_id: to, name: "next" }] });
      const answers = await Promise.all([bind(a, b), bind(b, a)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      const [refused] = answers.filter(({ status }) => status === 400);
      expect(refused?.body.error).toMatchObject({ type: "invalid_input", details: [{ loc: ["body", "tools"] }] });
    }
  });

  test("many changes at once all take effect", async () => {
    const id = await make("ann");
    const changes = [{ name: "N" }, { goal: "G" }, { context_compression: false }, { pricing: { per_run: 3 } }];
    const answers = await Promise.all(changes.map((body) => call("PATCH", `/v1/agents/${id}`, "ann", body)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await call("GET", `/v1/agents/${id}`, "ann")).body).toMatchObject(Object.assign({}, ...changes));
    const { revisions } = (await call("GET", `/v1/agents/${id}/revisions`, "ann")).body;
    expect(revisions.map(({ number }: { number: number }) => number)).toEqual([5, 4, 3, 2, 1]);
  });
});

describe("DELETE /agents/{id}", () => {
  test("204, then 404 everywhere; the rows stay", async () => {
    const id = await make("ann", { visibility: "public" });
    await call("POST", `/v1/agents/${id}/publish`, "ann");
    const answer = await bench.app.inject({
      method: "DELETE",
      url: `/v1/agents/${id}/`,
      headers: { "x-api-key": await bench.newUser("ann"), "content-type": "application/json" },
    });
    expect([answer.statusCode, answer.body]).toEqual([204, ""]);
    expect((await call("DELETE", `/v1/agents/${id}`, "ann")).status).toBe(404);
    for (const who of ["ann", "bob"]) expect((await call("GET", `/v1/agents/${id}`, who)).status).toBe(404);
    await expect(bench.agents.getRunnable(await bench.userId("ann"), { agentId: id })).rejects.toThrow("not found");
    const listed = (await call("GET", "/v1/agents?limit=100", "ann")).body.agents;
    expect(listed.some((agent: { id: string }) => agent.id === id)).toBe(false);
    const rows = await bench.database.sql`select from agent_revisions where agent_id = ${id}`;
    expect(rows).toHaveLength(1);
  });
});

describe("others", () => {
  test("a private one and a public one without a published revision are not there", async () => {
    const id = await make("ann");
    await call("POST", `/v1/agents/${id}/publish`, "ann");
    expect((await call("GET", `/v1/agents/${id}`, "bob")).body).toEqual(notFound);
    const draft = await make("ann", { visibility: "public" });
    expect((await call("GET", `/v1/agents/${draft}`, "bob")).body).toEqual(notFound);
  });

  test("a public, published one is a card without its workings; only its owner changes it", async () => {
    const id = await make("ann", { ...whole, visibility: "public" });
    await call("POST", `/v1/agents/${id}/publish`, "ann");
    const card = await call("GET", `/v1/agents/${id}`, "bob");
    expect(card.status).toBe(200);
    expect(agentCard.strict().parse(card.body)).toEqual(card.body);
    expect(card.body).toEqual({
      id,
      description: null,
      connectors: [],
      activity: { runs: 0, succeeded: 0, failed: 0, last_run_at: null },
      slug: expect.stringMatching(/^weather-reporter/),
      owner: "ann",
      name: "Weather Reporter",
      status: "published",
      visibility: "public",
      input_schema: whole.input_schema,
      output_schema: whole.output_schema,
      pricing: { per_run: 0.25 },
      models: [{ model: "gantry/text", pricing: { per_million_input_tokens: 0.1, per_million_output_tokens: 0.4 } }],
      agents: [],
      created_at: expect.any(String),
      published_at: expect.any(String),
    });
    expect((await call("PATCH", `/v1/agents/${id}`, "bob", { name: "x" })).status).toBe(404);
    expect((await call("DELETE", `/v1/agents/${id}`, "bob")).status).toBe(404);
    expect((await call("POST", `/v1/agents/${id}/publish`, "bob")).status).toBe(404);
    await call("PATCH", `/v1/agents/${id}`, "ann", { visibility: "private" });
    expect((await call("GET", `/v1/agents/${id}`, "bob")).status).toBe(404);
  });
});

async function caller(username: string) {
  return bench.accounts.authenticate(await bench.newUser(username));
}
