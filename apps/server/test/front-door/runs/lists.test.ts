import { newId } from "@gantry/wire";
import { expect, test } from "vitest";
import { useRunsPlatform } from "../../support/runs-platform.ts";

const platform = useRunsPlatform();
const { newUser, makeAgent, run } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);

test("the runs of an agent are not found whenever the agent is not, unless they are one's own", async () => {
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

test("a parameter that is misspelt is told where a run is read and its events listed, not where they are followed", async () => {
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
  // What stands in for a browser's own reader of events adds parameters.
  const followed = await call("GET", `/v1/runs/${id}/events?lastEventId=1`);
  expect(followed.status, followed.text).toBe(200);
});
