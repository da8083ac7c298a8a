import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { connectMcp } from "../../support/mcp-client.ts";
import { gate, type Seen, useRunsPlatform } from "../../support/runs-platform.ts";
import { toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, start, read, ended } = platform;

const asking = { tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] };
const idsIn = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
const arrived = () => sleep(500);

/** A released reader is answered in milliseconds, any other after the limit of at least 10 s. */
async function atOnce<T extends readonly unknown[]>(readers: T) {
  const since = performance.now();
  const answers = await Promise.all(readers);
  expect(performance.now() - since).toBeLessThan(8_000);
  return answers;
}

const nodes: GantryNode[] = [];
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close();
});
async function beside(env: Record<string, string> = {}): Promise<GantryNode> {
  const node = await startGantry({ beside: platform.gantry, env });
  nodes.push(node);
  return node;
}

test("a reader of a run that waits for a confirmation is released at once with the current state, and can reconnect", async () => {
  platform.llm.script = (request) =>
    toolResults(request).length === 0
      ? { calls: [{ name: "run_javascript", args: { code: "6 * 7" } }] }
      : { text: "heard" };
  const leaves = await beside({ GANTRY_ROLE: "api" });
  const agent = await makeAgent(asking);
  const id = await start(agent);
  await waitFor("the wait", async () => (await read(id)).phase === "awaiting_confirmation");
  const created = leaves.call("POST", `/v1/agents/${agent}/runs`, { json: { input: {}, wait: 60 } });
  const waiting = leaves.call("GET", `/v1/runs/${id}?wait=60`);
  const events = await leaves.fetch("GET", `/v1/runs/${id}/events`);
  const known = await leaves.fetch("GET", `/v1/runs/${id}/events`, { headers: { "last-event-id": "2" } });
  const list = async () => (await platform.gantry.call("GET", `/v1/agents/${agent}/runs`)).body.runs;
  await waitFor("both runs to ask", async () => {
    const phases = (await list()).map(({ phase }: Seen) => phase);
    return phases.length === 2 && phases.every((phase: string) => phase === "awaiting_confirmation");
  });
  await arrived();
  const draining = leaves.gantry.drain(10_000);
  const [made, seen, told, nothing] = await atOnce([created, waiting, events.text(), known.text(), draining] as const);
  expect([made.status, made.body.phase]).toEqual([201, "awaiting_confirmation"]);
  expect([seen.status, seen.body]).toMatchObject([200, { id, status: "running", phase: "awaiting_confirmation" }]);
  expect(idsIn(told)).toEqual([1, 2]);
  expect(idsIn(nothing)).toEqual([]);
  // A slightly late reader still gets the current state.
  const late = leaves.call("GET", `/v1/runs/${id}/events`);
  const [lateEvents, lateRun] = await atOnce([late, leaves.call("GET", `/v1/runs/${id}?wait=60`)] as const);
  expect([idsIn(lateEvents.text), lateRun.body.status]).toEqual([[1, 2], "running"]);

  const back = platform.gantry.call("GET", `/v1/runs/${id}/events`, { headers: { "last-event-id": "2" } });
  const path = `/v1/runs/${id}/confirmations`;
  const [question] = (await platform.gantry.call("GET", path)).body.confirmations;
  expect((await platform.gantry.call("POST", `${path}/${question.id}`, { json: { approve: true } })).status).toBe(200);
  expect(idsIn((await back).text)).toEqual([3, 4, 5, 6]);
});

test("the MCP endpoint reports at once that the run continues, and where", async () => {
  const held = gate();
  platform.llm.script = async () => {
    await held.promise;
    return { text: "done" };
  };
  const leaves = await beside({ GANTRY_ROLE: "api" });
  await makeAgent({ name: "Patience" });
  const client = await connectMcp(leaves.url, leaves.adminKey);
  const calling = client.callTool({ name: "agent_patience", arguments: {} });
  await waitFor("the model to be asked", () => platform.llm.requests.length === 1);
  await arrived();
  const draining = leaves.gantry.drain(10_000);
  const [answer] = await atOnce([calling, draining] as const);
  const { run_id: id, status } = answer.structuredContent as { run_id: string; status: string };
  expect([answer.isError, status]).toEqual([false, "running"]);
  await client.close();
  held.open();
  expect(await ended(id)).toMatchObject({ status: "done", output: { text: "done" } });
});

// The last test of this file: its node does no work afterwards.
test("a working run keeps its time, its readers are released, and it can still be cancelled", async () => {
  const held = gate();
  platform.llm.script = async () => {
    await held.promise;
    return { text: "on my own" };
  };
  const { gantry } = platform;
  const agent = await makeAgent();
  const [kept = "", dropped = ""] = [await start(agent), await start(agent)];
  await waitFor("the model to be asked", () => platform.llm.requests.length === 2);
  const readers = [kept, dropped].map((id) => gantry.call("GET", `/v1/runs/${id}?wait=60`));
  const events = await gantry.fetch("GET", `/v1/runs/${kept}/events`);
  await arrived();
  let isDrained = false;
  const draining = gantry.gantry.drain(20_000).then(() => {
    isDrained = true;
  });
  const [first, second, told] = await atOnce([...readers, events.text()] as const);
  expect([first, second]).toMatchObject([{ body: { status: "running" } }, { body: { status: "running" } }]);
  expect(idsIn(told as string)).toEqual([1]);
  // A cancel is not a reader: its answer says that the run has ended.
  const cancelled = await gantry.call("POST", `/v1/runs/${dropped}/cancel`);
  expect(cancelled.body).toMatchObject({ status: "error", error: { type: "cancelled" } });
  expect(isDrained).toBe(false);
  held.open();
  await draining;
  await beside();
  expect(await ended(kept)).toMatchObject({ status: "done", output: { text: "on my own" } });
  expect(platform.llm.requests).toHaveLength(2);
});
