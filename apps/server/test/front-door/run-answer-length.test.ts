import { expect, test } from "vitest";
import { useRunsPlatform } from "../support/runs-platform.ts";

const platform = useRunsPlatform();
const text = { type: "string" };
const model = (max_tokens: object) => ({
  input: { type: "object", properties: { prompt: text, max_tokens }, required: ["prompt"] },
});

test.each([
  ["the model's default", { type: "integer", default: 9000 }, 9000],
  ["the model's default, were it shorter than usual", { type: ["integer", "null"], default: 300 }, 300],
  ["the model's maximum below the usual length", { type: ["integer", "null"], default: null, maximum: 2000 }, 2000],
  ["nothing where the model says nothing", { type: "integer", maximum: 64_000 }, undefined],
])("an agent's call is bounded by %s, and that much is reserved", async (_, max_tokens, most) => {
  const name = `length-${most ?? "none"}`;
  await platform.makeModel(name, model(max_tokens));
  const me = async () => (await platform.gantry.call("GET", "/api/v2/me")).body;
  let reserved = 0;
  platform.llm.script = async () => {
    reserved = (await me()).reserved;
    return { text: "done" };
  };
  const answer = await platform.run(await platform.makeAgent({ model: `admin/${name}` }));
  expect(answer.body.status, answer.text).toBe("done");
  expect(platform.llm.requests.map((request) => request.max_tokens)).toEqual([most]);
  // Ten millionths of a dollar a token, and a little for what was asked.
  const forOutput = (most ?? 4096) * 10e-6;
  expect(reserved).toBeGreaterThan(forOutput);
  expect(reserved).toBeLessThan(forOutput + 0.002);
});

test("what a run may still cost bounds it too", async () => {
  await platform.makeModel("length-cost", model({ type: "integer", default: 300 }));
  const agent = await platform.makeAgent({ model: "admin/length-cost" });
  await platform.run(agent, { max_cost: 0.05 });
  await platform.run(agent, { max_cost: 0.003 });
  const [first = 0, second = 0] = platform.llm.requests.map((request) => request.max_tokens);
  expect(first).toBe(300);
  expect(second).toBeLessThan(300);
});
