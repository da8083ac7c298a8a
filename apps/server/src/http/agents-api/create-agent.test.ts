import { agentCreatedRecord, agentRecord, isId, newId } from "@gantry/wire";
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

const unknownAgent = newId("agent");

describe("POST /agents", () => {
  test("201 with the fields of the specification", async () => {
    const answer = await call("POST", "/v1/agents", "ann", whole);
    expect(answer.status).toBe(201);
    expect(agentCreatedRecord.strict().parse(answer.body)).toEqual(answer.body);
    expect(answer.body).toEqual({
      id: expect.any(String),
      name: "Weather Reporter",
      status: "unpublished",
      revision_id: expect.any(String),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      visibility: "private",
      slug: "weather-reporter",
      warnings: [],
    });
    expect(isId("agent", answer.body.id) && isId("revision", answer.body.revision_id)).toBe(true);

    const read = await call("GET", `/v1/agents/${answer.body.id}/`, "ann");
    expect(read.status).toBe(200);
    expect(agentRecord.strict().parse(read.body)).toEqual(read.body);
    expect(read.body).toEqual({
      ...whole,
      description: null,
      memory: null,
      webhook: null,
      activity: { runs: 0, succeeded: 0, failed: 0, last_run_at: null },
      id: answer.body.id,
      slug: "weather-reporter",
      owner: "ann",
      status: "unpublished",
      visibility: "private",
      published_revision_id: null,
      latest_revision_id: answer.body.revision_id,
      warnings: [],
      created_at: answer.body.created_at,
      updated_at: answer.body.created_at,
    });
    expect(Object.keys(read.body.input_schema.properties)).toEqual(["city", "days"]);
  });

  test("what is left out has its default", async () => {
    const id = await make("bob");
    expect((await call("GET", `/v1/agents/${id}`, "bob")).body).toMatchObject({
      tools: [],
      model: "anthropic/default",
      input_schema: { type: "object" },
      output_schema: null,
      instructions: {},
      drives: [],
      mcp_servers: [],
      memory: null,
      pricing: { per_run: 0 },
      context_compression: true,
      visibility: "private",
    });
  });

  test("slugs are unique for the creator, come free again, and hold for every name", async () => {
    const slug = async (who: string, name: string) => {
      const made = await call("POST", "/v1/agents/", who, { name, goal: "g", tools: [] });
      return [made.body.slug, made.body.id];
    };
    expect((await slug("cyd", "Slug me!"))[0]).toBe("slug-me");
    const [second, id] = await slug("cyd", "slug: me");
    expect(second).toBe("slug-me-2");
    expect((await slug("cyd", "Slug Me"))[0]).toBe("slug-me-3");
    expect((await slug("ann", "Slug me"))[0]).toBe("slug-me");
    await call("DELETE", `/v1/agents/${id}`, "cyd");
    expect((await slug("cyd", "Slug me"))[0]).toBe("slug-me-2");
    expect((await slug("cyd", "Über-Größe №1"))[0]).toBe("uber-gro-e-no1");
    expect((await slug("cyd", "天気"))[0]).toBe("agent");
    const many = await Promise.all(Array.from({ length: 8 }, () => slug("cyd", "Same")));
    expect(new Set(many.map(([text]) => text)).size).toBe(8);
  });

  test("400 with every fault and its place", async () => {
    const answer = await call("POST", "/v1/agents", "ann", {
      goal: "{{#if a}}",
      tools: [
        "nothing",
        { type: "tool", id: "http_request", confirm: "maybe" },
        { type: "other" },
        7,
        { type: "agent", agent_id: unknownAgent },
        { type: "tool", id: "idp_user_delete", confirm: "never" },
        { type: "tool", id: "run_model", arguments: { zzz: 1 } },
        "nothing",
      ],
      model: "gantry/nothing",
      input_schema: { type: "objekt" },
      output_schema: { $ref: "https://example.com/s.json" },
      instructions: { thinking: "x" },
      drives: ["drv_bob", "drv_ann", "drv_ann"],
      mcp_servers: [{ id: "mcp_bob" }, { id: "mcp_ann", extra: 1 }],
      pricing: { per_run: -1 },
      visibility: "secret",
      context_compression: "yes",
      extra: 1,
    });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ type: "invalid_input", code: "invalid_input" });
    const places = answer.body.error.details.map(({ loc }: { loc: unknown[] }) => loc.join("."));
    expect(new Set(places)).toEqual(
      new Set([
        "body.name",
        "body.goal",
        "body.tools.0",
        "body.tools.1.confirm",
        "body.tools.2.type",
        "body.tools.3",
        "body.tools.4.agent_id",
        "body.tools.5.confirm",
        "body.tools.6.arguments.zzz",
        "body.tools.7",
        "body.model",
        "body.input_schema.type",
        "body.output_schema",
        "body.instructions.thinking",
        "body.drives.0",
        "body.drives.2",
        "body.mcp_servers.0.id",
        "body.mcp_servers.1.extra",
        "body.pricing.per_run",
        "body.visibility",
        "body.context_compression",
        "body.extra",
      ]),
    );
    for (const detail of answer.body.error.details) expect(detail.message).toEqual(expect.any(String));
  });

  test("400 for a double name beside an entry that is ill-formed, here and in a change", async () => {
    const [first, second] = [await make("ann"), await make("ann")];
    const tools = [
      { type: "agent", agent_id: first, name: "bad name!" },
      { type: "agent", agent_id: second, name: "http_request" },
      "http_request",
    ];
    const drives = ["", "drv_nothing", "drv_ann"];
    const answers = [
      await call("POST", "/v1/agents", "ann", { name: "n", goal: "g", tools, drives }),
      await call("PATCH", `/v1/agents/${await make("ann")}`, "ann", { tools, drives }),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(400);
      const places = body.error.details.map(({ loc }: { loc: unknown[] }) => loc.join("."));
      expect(places.sort()).toEqual(["body.drives.0", "body.drives.1", "body.tools.0.name", "body.tools.1.name"]);
    }
  });

  test.each([
    ["name", { name: "" }],
    ["name", { name: "   " }],
    ["name", { name: "x".repeat(101) }],
    ["name", { name: "a\u0000b" }],
    ["goal", { goal: "" }],
    ["goal", { goal: "x".repeat(65_537) }],
    ["goal", { goal: "{{> partial}}" }],
    ["goal", { goal: "{{shout name}}" }],
    ["goal", { goal: "\ud800" }],
    ["tools", { tools: "http_request" }],
    ["tools.0", { tools: ["nothing"] }],
    ["tools.0", { tools: ["constructor"] }],
    ["tools.1", { tools: ["http_request", "http_request"] }],
    ["tools.1", { tools: ["http_request", { type: "tool", id: "http_request" }] }],
    ["tools.0.id", { tools: [{ type: "tool", id: "nothing" }] }],
    ["tools.0.confirm", { tools: [{ type: "tool", id: "idp_user_delete", confirm: "never" }] }],
    ["tools.0.arguments.verb", { tools: [{ type: "tool", id: "http_request", arguments: { verb: "GET" } }] }],
    ["tools.0.arguments.method", { tools: [{ type: "tool", id: "http_request", arguments: { method: "BREW" } }] }],
    ["tools.0.agent_id", { tools: [{ type: "agent", agent_id: unknownAgent }] }],
    ["tools.0.agent_id", { tools: [{ type: "agent", agent_id: "x" }] }],
    ["tools.0.agent_id", { tools: [{ type: "agent" }] }],
    ["tools.0.name", { tools: [{ type: "agent", agent_id: unknownAgent, name: "with space" }] }],
    ["model", { model: "no-slash" }],
    ["model", { model: "unknown/nothing" }],
    ["model", { model: "ann/picture" }],
    ["model", { model: "bob/own" }],
    ["model", { model: "ann/no-talker" }],
    ["input_schema", { input_schema: null }],
    ["input_schema", { input_schema: [] }],
    ["input_schema", { input_schema: { properties: { a: { pattern: "(" } } } }],
    ["input_schema", { input_schema: { $ref: "#/nowhere" } }],
    ["input_schema", { input_schema: { description: "x".repeat(65_600) } }],
    ["output_schema", { output_schema: 3 }],
    ["instructions.planning", { instructions: { planning: 1 } }],
    ["drives.0", { drives: ["drv_nothing"] }],
    ["memory.drive", { memory: { drive: "drv_bob" } }],
    ["memory.path", { memory: { drive: "drv_ann", path: "/a/../b" } }],
    ["mcp_servers.0.id", { mcp_servers: [{ id: "mcp_nothing" }] }],
    ["mcp_servers.1.id", { mcp_servers: [{ id: "mcp_ann" }, { id: "mcp_ann" }] }],
    ["pricing", { pricing: 1 }],
    ["pricing.per_run", { pricing: {} }],
    ["pricing.per_run", { pricing: { per_run: 0.0000001 } }],
    ["pricing.extra", { pricing: { per_run: 1, extra: 1 } }],
    ["visibility", { visibility: null }],
  ])("400 %s of %j", async (place, fields) => {
    await bench.models.putModel({ ...(await caller("ann")) }, "ann", "picture", pictureManifest);
    await bench.models.putModel({ ...(await caller("ann")) }, "ann", "no-talker", {
      ...textManifest,
      backend: { type: "cog", url: "https://up.example" },
    });
    await bench.models.putModel({ ...(await caller("bob")) }, "bob", "own", { ...textManifest, visibility: "private" });
    const answer = await call("POST", "/v1/agents", "ann", { name: "n", goal: "g", tools: [], ...fields });
    expect(answer.status).toBe(400);
    expect(answer.body.error.type).toBe("invalid_input");
    const places = answer.body.error.details.map(({ loc }: { loc: unknown[] }) => loc.join("."));
    expect([...new Set(places)]).toEqual([`body.${place}`]);
  });

  test.each([["null"], ["[]"], ['"x"'], ["7"], ["{"], [""]])("400 for the body %s", async (payload) => {
    const key = await bench.newUser("ann");
    const answer = await bench.app.inject({
      method: "POST",
      url: "/v1/agents",
      headers: { "x-api-key": key, "content-type": "application/json" },
      payload,
    });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().error.type).toBe("invalid_input");
  });

  test("a body of another kind, one nested without end, and one too large are 400", async () => {
    const key = await bench.newUser("ann");
    const send = (payload: string, type: string) =>
      bench.app.inject({
        method: "POST",
        url: "/v1/agents",
        headers: { "x-api-key": key, "content-type": type },
        payload,
      });
    expect((await send("name=x", "application/x-www-form-urlencoded")).statusCode).toBe(400);
    const deep = `{"name":"n","goal":"g","tools":[],"input_schema":${'{"not":'.repeat(50_000)}{}${"}".repeat(50_000)}}`;
    const answer = await send(deep, "application/json");
    expect(answer.statusCode).toBe(400);
    expect(answer.json().error.message).toMatch(/Nested more than/);
    expect((await send(`{"goal":"${"x".repeat(1_100_000)}"}`, "application/json")).statusCode).toBe(400);
  });

  test("a schema that is made to run for ever does not hold the server", async () => {
    const schema = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } };
    expect(await make("ann", { input_schema: schema })).toMatch(/^agt_/);
  });

  test("warnings say what looks like a mistake", async () => {
    const answer = await call("POST", "/v1/agents", "ann", {
      name: "n",
      goal: "{{city}} {{town}} {{#each days}}{{name}}{{/each}}",
      tools: ["drive_read"],
      input_schema: whole.input_schema,
      output_schema: { type: "string" },
    });
    expect(answer.body.warnings).toEqual([
      { field: "goal", message: "input_schema has no town" },
      { field: "goal", message: "input_schema has no name" },
      { field: "output_schema", message: expect.stringContaining("is an object") },
      { field: "drives", message: expect.stringContaining("no drive") },
    ]);
    expect((await call("GET", `/v1/agents/${answer.body.id}`, "ann")).body.warnings).toHaveLength(4);
  });
});

async function caller(username: string) {
  return bench.accounts.authenticate(await bench.newUser(username));
}

const pictureManifest = {
  ...textManifest,
  kind: "image",
  output: { type: "object", properties: { image: { type: "string", format: "binary", "x-media": "image" } } },
  backend: { type: "openai-images", url: "https://up.example/v1", model: "x" },
};
