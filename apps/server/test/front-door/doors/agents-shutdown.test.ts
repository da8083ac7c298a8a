import { expect, test } from "vitest";
import { askAgent, openaiClient, streamAgent } from "../../support/agent-chats.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
let count = 0;

async function publish(fields: object = {}): Promise<string> {
  await platform.makeAgent({ name: `Leaver ${++count}`, goal: "Answer {{input}}.", ...fields });
  return `agents/admin/leaver-${count}`;
}

/** A node that the client is connected to, while another one works on the run. */
async function doorNode(): Promise<GantryNode> {
  return startGantry({ beside: platform.gantry, env: { GANTRY_ROLE: "api" } });
}

const clientOf = (node: GantryNode) => openaiClient(node, node.adminKey);
/** Two calls: the first at once, the second when the gate is open. */
function stepByStep() {
  const opened = gate();
  platform.llm.script = async (request) => {
    if (toolResults(request).length === 0)
      return { text: "First.", calls: [{ name: "run_javascript", args: { code: "1" } }] };
    await opened.promise;
    return { text: "Second." };
  };
  return opened;
}

test("a node that shuts down waits for the answer of a run on another node", async () => {
  const leaves = await doorNode();
  const agent = await publish({ tools: ["run_javascript"] });
  const opened = stepByStep();
  const { seen, end } = await streamAgent(clientOf(leaves), agent, "Go.");
  await waitFor("the first text", () => seen.text === "First.");
  const closed = leaves.close();
  await new Promise((resolve) => setTimeout(resolve, 500));
  opened.open();
  expect(await end).toMatchObject({ text: "First.\n\nSecond.", error: undefined });
  await closed;
});

test("after the time, the client gets an error and the run is cancelled", async () => {
  const leaves = await doorNode();
  const agent = await publish({ tools: ["run_javascript"] });
  const opened = stepByStep();
  const { seen, end } = await streamAgent(clientOf(leaves), agent, "Go.");
  const whole = askAgent(clientOf(leaves), agent, "Go.").catch((error: unknown) => error);
  await waitFor("the first text", () => seen.text === "First.");
  await waitFor("the second calls of both runs", () => platform.llm.open === 2);
  await leaves.gantry.drain(300);
  expect((await end).error).toMatchObject({ code: "service_unavailable" });
  expect(await whole).toMatchObject({ status: 503, code: "service_unavailable" });
  expect(await platform.ended(seen.runId)).toMatchObject({ error: { type: "cancelled" } });
  opened.open();
  await leaves.close();
});

test("with an Idempotency-Key the run goes on, and a repeat on another node gets its answer", async () => {
  const leaves = await doorNode();
  const agent = await publish({ tools: ["run_javascript"] });
  const opened = stepByStep();
  const headers = { "idempotency-key": "moved" };
  const { seen, end } = await streamAgent(clientOf(leaves), agent, "Go.", { headers });
  await waitFor("the first text", () => seen.text === "First.");
  await leaves.gantry.drain(300);
  expect((await end).error).toMatchObject({ code: "service_unavailable" });
  const again = await streamAgent(clientOf(platform.gantry), agent, "Go.", { headers });
  opened.open();
  expect(await again.end).toMatchObject({ text: "First.\n\nSecond.", runId: seen.runId });
  await leaves.close();
});

test("a run that needs a confirmation does not delay the shutdown", async () => {
  const leaves = await doorNode();
  const agent = await publish({ tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] });
  platform.llm.script = inTurn({ calls: [{ name: "run_javascript", args: { code: "2" } }] });
  const error = await askAgent(clientOf(leaves), agent, "Go.").catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ status: 409 });
  const since = performance.now();
  await leaves.gantry.drain(10_000);
  expect(performance.now() - since).toBeLessThan(5_000);
  await leaves.close();
});
