import { newId } from "@gantry/wire";
import { describe, expect, test } from "vitest";
import { useRunsPlatform } from "../../support/runs-platform.ts";

const platform = useRunsPlatform();
const { newUser, makeAgent, run } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);

test("the runs of an invisible agent are not found, except the caller's own", async () => {
  const [creator, caller] = [await newUser(), await newUser()];
  const json = { name: "Draft", goal: "g", tools: [], model: "admin/llm", visibility: "public" };
  const draft = (await call("POST", "/v1/agents", { json, ...creator })).body.id;
  const hidden = await makeAgent({}, creator.key);
  for (const agent of [draft, hidden, newId("agent"), "agt_unknown", "x"]) {
    const answers = [
      await call("GET", `/v1/agents/${agent}`, caller),
      await call("GET", `/v1/agents/${agent}/runs`, caller),
    ];
    for (const { status, body } of answers) {
      expect([status, body.error.type, body.error.message]).toEqual([404, "not_found", "Agent not found"]);
    }
  }
  expect((await call("GET", `/v1/agents/${draft}/runs`, creator)).body).toMatchObject({ runs: [], total: 0 });

  const open = await makeAgent({ visibility: "public" }, creator.key);
  expect((await call("GET", `/v1/agents/${open}/runs`, caller)).body).toMatchObject({ runs: [], total: 0 });
  await run(open, {}, caller);
  await call("DELETE", `/v1/agents/${open}`, creator);
  expect((await call("GET", `/v1/agents/${open}/runs`, caller)).body).toMatchObject({ total: 1 });
  expect((await call("GET", `/v1/agents/${open}/runs`, await newUser())).status).toBe(404);
});

test("a misspelt parameter is refused when reading a run or listing events, but not when streaming them", async () => {
  const { id } = (await run(await makeAgent())).body;
  for (const [path, only] of [
    [`/v1/runs/${id}?wiat=3`, "wait"],
    [`/v1/runs/${id}/events/list?afer=3`, "after"],
  ]) {
    const { status, body, text } = await call("GET", path ?? "");
    expect([status, body.error?.message], text).toEqual([
      400,
      expect.stringContaining(`Unknown parameter. Known: ${only}`),
    ]);
  }
  // Replacements for EventSource add parameters.
  const followed = await call("GET", `/v1/runs/${id}/events?lastEventId=1`);
  expect(followed.status, followed.text).toBe(200);
});

describe("lists of runs", () => {
  test("are newest first, with limit, offset and status", async () => {
    const user = await platform.newUser();
    const agent = await makeAgent({}, user.key);
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.unshift((await run(agent, { input: { n } }, user)).body.id);
    platform.llm.script = () => ({ status: 400 });
    const failed = (await run(agent, {}, user)).body.id;
    const idsOf = async (query: string) => {
      const { body } = await call("GET", query, user);
      return body.runs.map((one: { id: string }) => one.id);
    };
    for (const path of [`/v1/agents/${agent}/runs`, "/v1/runs"]) {
      expect(await idsOf(path)).toEqual([failed, ...ids]);
      expect((await call("GET", path, user)).body).toMatchObject({ total: 4, limit: 20, offset: 0 });
      expect(await idsOf(`${path}?limit=2&offset=1`)).toEqual(ids.slice(0, 2));
      expect(await idsOf(`${path}?status=error`)).toEqual([failed]);
      expect(await idsOf(`${path}?status=pending`)).toEqual([]);
      for (const query of ["limit=0", "limit=101", "offset=-1", "limit=x", "status=new"]) {
        const refused = await call("GET", `${path}?${query}`, user);
        expect(refused.status, query).toBe(400);
        expect(refused.body.error.type).toBe("invalid_input");
      }
    }
    const [newest] = (await call("GET", "/v1/runs?limit=1", user)).body.runs;
    expect(newest).toMatchObject({ status: "error", error: { type: "internal" }, completed_at: expect.any(String) });
    expect(newest).not.toHaveProperty("output");
    const other = await platform.newUser();
    expect((await call("GET", "/v1/runs", other)).body).toMatchObject({ total: 0, runs: [] });
  });

  test("another user's run is not found on any route", async () => {
    const { body } = await run(await makeAgent());
    const other = await platform.newUser();
    const routes: [string, string][] = [
      ["GET", ""],
      ["GET", "/events"],
      ["GET", "/events/list"],
      ["GET", "/confirmations"],
      ["POST", "/cancel"],
      ["GET", "/secrets/sec_x"],
    ];
    for (const [method, path] of routes) {
      for (const [id, who] of [
        [body.id, other],
        ["run_unknown", {}],
      ] as const) {
        const answer = await call(method, `/v1/runs/${id}${path}`, who);
        expect(answer.status, `${method} ${id}${path}`).toBe(404);
        expect(answer.body.error.type).toBe("not_found");
      }
    }
    const answered = await call("POST", `/v1/runs/${body.id}/confirmations/conf_x`, { json: { approve: true } });
    expect(answered.status).toBe(404);
    expect((await call("DELETE", `/v1/runs/${body.id}`)).status).toBe(405);
  });
});
