import { expect, test } from "vitest";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { newUser, makeAgent, start, ended } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);

test("model calls of a run are in the usage, and cannot be fetched, followed or cancelled as predictions", async () => {
  const user = await newUser();
  const agent = await makeAgent({ model: "admin/llm" }, user.key);
  const held = gate();
  platform.llm.script = async () => {
    await held.promise;
    return { text: "The answer." };
  };
  const id = await start(agent, {}, user);
  const { sql } = platform.gantry.database;
  let live: string | undefined;
  await waitFor("the call to be under way", async () => {
    [live] = (await sql<{ id: string }[]>`select id from live_predictions where route = 'agent'`).map((row) => row.id);
    return live !== undefined;
  });
  const path = "/api/v1/admin/llm/predict";
  const lines = { key: user.key, headers: { accept: "application/x-ndjson" } };
  async function isUnknown(predictionId = ""): Promise<void> {
    const query = `${path}/async/result/?request_id=${predictionId}`;
    const answers = [
      await call("GET", query, user),
      await call("GET", query, lines),
      await call("POST", `${path}/cancel?prediction_id=${predictionId}`, user),
    ];
    for (const { status, text } of answers) {
      expect(status, text).toBe(404);
      expect(text).toContain("Prediction not found");
    }
  }
  await isUnknown(live);
  held.open();
  expect(await ended(id, user.key)).toMatchObject({ status: "done", output: { text: "The answer." } });
  const [used] = (await call("GET", "/api/v2/usage", user)).body.results;
  expect(used).toMatchObject({ request_id: live, status: 200 });
  await isUnknown(live);
});
