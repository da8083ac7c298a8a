import { expect, test } from "vitest";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();

test("a run does not end before it started, even if the clock is set back meanwhile", async () => {
  const held = gate();
  platform.llm.script = async () => {
    await held.promise;
    return { text: "done" };
  };
  const id = await platform.start(await platform.makeAgent());
  await waitFor("the model to be asked", () => platform.llm.requests.length === 1);
  // As if the clock had been set back by an hour.
  await platform.gantry.database.sql`
    update runs set created_at = created_at + interval '1 hour', started_at = started_at + interval '1 hour'
    where id = ${id}`;
  held.open();
  const run = await platform.ended(id);
  expect(run).toMatchObject({ status: "done", duration_ms: 0, completed_at: run.created_at });
  const last = (await platform.events(id)).at(-1);
  expect(last.message).toBe("The run finished in 1 steps, 0 ms.");
});
