import { expect, test } from "vitest";
import { startFickleUpstream } from "../../support/fickle-upstream.ts";
import { backendAt } from "../../support/listed-backends.ts";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn } from "../../support/scripted-llm.ts";

const platform = useRunsPlatform();

test("a run goes on with another backend, and is charged its prices", async () => {
  const failing = await startFickleUpstream({ status: 503 });
  await platform.makeModel("listed");
  const backends = [
    backendAt("failing", failing, { pricing: { per_request: 0.5 } }),
    backendAt("working", platform.llm, { priority: 1, pricing: { per_request: 0.01 } }),
  ];
  const changed = await platform.gantry.call("PATCH", "/api/v1/admin/listed", { json: { backend: null, backends } });
  expect(changed.status, changed.text).toBe(200);
  platform.llm.script = inTurn({ calls: [{ name: "run_javascript", args: { code: "1" } }] }, { text: "done" });
  const agent = await platform.makeAgent({ tools: ["run_javascript"], model: "admin/listed" });
  const { body } = await platform.run(agent);
  expect(body).toMatchObject({ status: "done", output: { text: "done" }, cost: 0.02 });
  expect(failing.requests.length).toBeGreaterThan(0);
  await failing.close();
});
