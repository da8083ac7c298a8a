import { newId } from "@gantry/wire";
import { expect, test } from "vitest";
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
