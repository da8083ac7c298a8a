import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentsUnderTest, agentsUnderTest } from "../../../test/support/agents.ts";

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

describe("agents as tools", () => {
  const bind = (agent_id: string, more: object = {}) => [{ type: "agent", agent_id, ...more }];

  test("own ones, and public published ones of others", async () => {
    const own = await make("ann", { name: "Own helper" });
    const made = await call("POST", "/v1/agents", "ann", { name: "n", goal: "g", tools: bind(own) });
    expect(made.status).toBe(201);
    expect(made.body.warnings).toEqual([{ field: "tools", message: "The agent own-helper is not published yet" }]);
    const others = await make("bob", { visibility: "public" });
    const body = { name: "n", goal: "g", tools: bind(others) };
    expect((await call("POST", "/v1/agents", "ann", body)).status).toBe(400);
    await call("POST", `/v1/agents/${others}/publish`, "bob");
    expect((await call("POST", "/v1/agents", "ann", body)).body.warnings).toEqual([]);
    await call("PATCH", `/v1/agents/${others}`, "bob", { visibility: "private" });
    expect((await call("POST", "/v1/agents", "ann", body)).status).toBe(400);
  });

  test("two of one name are refused", async () => {
    const [one, two] = [await make("ann", { name: "run-model" }), await make("ann")];
    const send = (tools: unknown[]) => call("POST", "/v1/agents", "ann", { name: "n", goal: "g", tools });
    expect((await send([...bind(one, { name: "same" }), ...bind(two, { name: "same" })])).status).toBe(400);
    expect((await send(["run_model", ...bind(one, { name: "run_model" })])).status).toBe(400);
    expect((await send(["run_model", ...bind(one)])).status).toBe(201);
    expect((await send([...bind(one), ...bind(one, { name: "other" })])).status).toBe(400);
  });

  test("a circle is refused where it can be seen", async () => {
    const [a, b, c] = [await make("ann"), await make("ann"), await make("ann")];
    const patch = (id: string, tools: unknown[]) => call("PATCH", `/v1/agents/${id}`, "ann", { tools });
    expect((await patch(a, bind(a))).body.error.details[0].message).toContain(`${a} → ${a}`);
    expect((await patch(a, bind(b))).status).toBe(200);
    expect((await patch(b, bind(c))).status).toBe(200);
    const refused = await patch(c, bind(a));
    expect(refused.status).toBe(400);
    expect(refused.body.error.details[0].message).toContain([c, a, b, c].join(" → "));
  });

  test("a circle tells nothing of what another's agents are made of", async () => {
    const published = async (...[who, fields]: Parameters<typeof make>) => {
      const id = await make(who, fields);
      expect((await call("POST", `/v1/agents/${id}/publish`, who)).status).toBe(200);
      return id;
    };
    const shown = await published("ann", { visibility: "public" });
    const hidden = await published("bob", { tools: bind(shown) });
    const between = await published("bob", { tools: bind(hidden), visibility: "public" });
    const refused = await call("PATCH", `/v1/agents/${shown}`, "ann", { tools: bind(between) });
    expect(refused.status).toBe(400);
    expect(refused.body.error.details[0].message).toContain(
      `${shown} → ${between} → an agent of another user → ${shown}`,
    );
    expect(refused.text).not.toContain(hidden);
  });

  test("publishing an old revision does not close a circle", async () => {
    const [a, b] = [await make("ann"), await make("ann")];
    const withB = (await call("PATCH", `/v1/agents/${a}`, "ann", { tools: bind(b) })).body.latest_revision_id;
    await call("PATCH", `/v1/agents/${a}`, "ann", { tools: [] });
    expect((await call("PATCH", `/v1/agents/${b}`, "ann", { tools: bind(a) })).status).toBe(200);
    await call("POST", `/v1/agents/${b}/publish`, "ann");
    const answer = await call("POST", `/v1/agents/${a}/publish`, "ann", { revision_id: withB });
    expect([answer.status, answer.body.error.type]).toEqual([409, "conflict"]);
    expect((await call("POST", `/v1/agents/${a}/publish`, "ann")).status).toBe(200);
  });
});

describe("GET /tools", () => {
  test("every tool with its parameters and kind", async () => {
    const answer = await call("GET", "/v1/tools/", "ann");
    expect(answer.status).toBe(200);
    const kinds = Object.fromEntries(answer.body.tools.map(({ id, kind }: { id: string; kind: string }) => [id, kind]));
    expect(kinds).toEqual({
      http_request: "write",
      web_fetch: "read",
      web_search: "read",
      run_model: "read",
      run_javascript: "read",
      drive_list: "read",
      drive_read: "read",
      drive_search: "read",
      drive_write: "write",
      drive_delete: "write",
      update_memory: "write",
      idp_user_delete: "write",
      idp_user_get: "read",
    });
    for (const tool of answer.body.tools) {
      const { settings, ...rest } = tool;
      expect(Object.keys(rest).sort()).toEqual(["description", "id", "kind", "parameters"]);
      expect(settings === undefined || tool.id === "web_search").toBe(true);
      expect(tool.parameters).toMatchObject({ type: "object", properties: expect.any(Object) });
    }
  });
});
