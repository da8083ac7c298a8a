import { expect, test } from "vitest";
import { useRunsPlatform } from "../../support/runs-platform.ts";

const platform = useRunsPlatform();
const text = { type: "string" };

test("an agent's model may use its whole reservation, not just the default length of predictions", async () => {
  const max_tokens = { type: "integer", default: 300, maximum: 32_000 };
  await platform.makeModel("length", {
    input: { type: "object", properties: { prompt: text, max_tokens }, required: ["prompt"] },
  });
  const me = async () => (await platform.gantry.call("GET", "/api/v2/me")).body;
  let reserved = 0;
  platform.llm.script = async () => {
    reserved = (await me()).reserved;
    return { text: "done" };
  };
  const agent = await platform.makeAgent({ model: "admin/length" });
  const answer = await platform.run(agent);
  expect(answer.body.status, answer.text).toBe("done");
  expect(platform.llm.requests.map((request) => request.max_tokens)).toEqual([4096]);
  // Ten micro-dollars per token, and a little for the input.
  expect(reserved).toBeGreaterThan(4096 * 10e-6);
  expect(reserved).toBeLessThan(4096 * 10e-6 + 0.002);
  await platform.run(agent, { max_cost: 0.003 });
  expect(platform.llm.requests.at(-1)?.max_tokens).toBeLessThan(300);
});
