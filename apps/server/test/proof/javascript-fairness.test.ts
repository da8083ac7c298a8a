import { expect, test } from "vitest";
import { useRunsPlatform } from "../support/runs-platform.ts";
import { toolResults } from "../support/scripted-llm.ts";
import { waitFor } from "../support/wait-for.ts";

const platform = useRunsPlatform();

test("hundreds of endless programs of one user do not delay another user's", async () => {
  const [hog, other] = [await platform.newUser(), await platform.newUser()];
  const tools = ["run_javascript"];
  const hogs = await platform.makeAgent({ goal: "Hog.", tools }, hog.key);
  const sums = await platform.makeAgent({ goal: "Add.", tools }, other.key);
  const program = (code: string) => ({ name: "run_javascript", args: { code } });
  platform.llm.script = (request) => {
    if (toolResults(request).length > 0) return { text: toolResults(request).join() };
    const isHog = request.messages[1]?.content?.startsWith("Hog.");
    return { calls: isHog ? Array.from({ length: 64 }, () => program("while(1);")) : [program("1+1")] };
  };
  const started = await Promise.all(Array.from({ length: 5 }, () => platform.start(hogs, {}, hog)));
  const isAtWork = async (id: string) => (await platform.types(id, hog.key)).includes("tool_call");
  await waitFor("the programs", async () => (await Promise.all(started.map(isAtWork))).every(Boolean));
  const { body } = await platform.run(sums, {}, other);
  const told = (await Promise.all(started.map((id) => platform.events(id, hog.key)))).flat();
  await Promise.all(
    started.map((id) => platform.gantry.call("POST", `/v1/runs/${id}/cancel`, { key: hog.key, json: {} })),
  );
  expect(body).toMatchObject({ status: "done", output: { text: "2" } });
  // Each endless program runs for 5 s, so this one came before most of the 320.
  expect(told.filter(({ result }) => /took more than 5 s/.test(result ?? "")).length).toBeLessThan(64);
  await Promise.all(started.map((id) => platform.ended(id, hog.key)));
}, 60_000);
