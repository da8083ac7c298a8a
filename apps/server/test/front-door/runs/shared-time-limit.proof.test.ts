import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { selfSigned } from "../../../src/engines/net/self-signed.fixture.ts";
import { tenantState } from "../../../src/features/connectors/idp/tenant-routes.fixture.ts";
import { serveTenant, type TenantServer } from "../../../src/features/connectors/idp/tenant-server.fixture.ts";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import { allScopes } from "../../support/idp-connector.ts";
import { type LlmAnswer, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

let t: AgentRuns;
let tenant: TenantServer;

beforeAll(async () => {
  t = await startAgentRuns();
  tenant = await serveTenant(selfSigned);
  const json = { domain: tenant.domain, token: tenant.issue(allScopes) };
  expect((await t.gantry.call("PUT", "/v1/connectors/idp", { json })).status).toBe(200);
});
afterAll(async () => {
  await t.close();
  await tenant.close();
});
beforeEach(() => {
  tenant.seen.length = 0;
  tenant.state = { ...tenantState(), tokens: tenant.state.tokens };
});

const writes = () => tenant.seen.filter(({ method }) => method !== "GET");
const asTool = (agentId: string, name: string) => ({ type: "agent", agent_id: agentId, name });

/** First answers by the agent's goal; after the tool results every agent is done. */
function parts(first: Record<string, () => LlmAnswer | Promise<LlmAnswer>>): void {
  t.llm.script = (request) => {
    const goal = request.messages[1]?.content ?? "";
    const [, say] = Object.entries(first).find(([name]) => goal.startsWith(`${name}.`)) ?? [];
    if (!say) throw new Error(`no script for ${goal}`);
    return toolResults(request).length === 0 ? say() : { text: "done" };
  };
}

const asks = () => ({ calls: [{ name: "idp_role_create", args: { name: "new-role" } }] });
const afterMs = (milliseconds: number) => async () => {
  await sleep(milliseconds);
  return { text: "at last" };
};
const both = () => ({ calls: ["asking", "slow"].map((name) => ({ name, args: {} })) });

async function makeFamily() {
  const asking = await t.makeAgent({ goal: "Asking.", tools: ["idp_role_create"] });
  const slow = await t.makeAgent({ goal: "Slow." });
  return t.makeAgent({ goal: "Parent.", tools: [asTool(asking, "asking"), asTool(slow, "slow")] });
}

async function pendingOf(runId: string) {
  return (await t.confirmations(runId)).find(({ status }: { status: string }) => status === "pending");
}

test("a child that uses up the shared time ends the parent and closes a sibling's confirmation", async () => {
  parts({ Parent: both, Asking: asks, Slow: afterMs(20_000) });
  const { runId, asked } = await t.runUntilAsked(await makeFamily(), { timeout_seconds: 5 });
  await waitFor("the end", async () => (await t.gantry.call("GET", `/v1/runs/${runId}`)).body.phase === "ended");
  expect(await t.ended(runId)).toMatchObject({ status: "error", error: { type: "timeout" } });
  const [closed] = await t.confirmations(runId);
  expect(closed).toMatchObject({ id: asked.id, status: "expired", reason: "The run has ended" });
  const late = await t.answer(runId, asked.id, { approve: true });
  expect([late.status, late.body.error?.type], late.text).toEqual([409, "conflict"]);
  const { runs } = (await t.gantry.call("GET", `/v1/runs?parent_run_id=${runId}`)).body;
  const ends = runs.map(({ error }: { error: { type: string } }) => error.type).sort();
  expect(ends).toEqual(["cancelled", "timeout"]);
  expect(writes()).toEqual([]);
});

test("the same two levels down: each parent ends with its child", async () => {
  parts({ Root: () => ({ calls: [{ name: "parent", args: {} }] }), Parent: both, Asking: asks, Slow: afterMs(20_000) });
  const root = await t.makeAgent({ goal: "Root.", tools: [asTool(await makeFamily(), "parent")] });
  const { runId } = await t.runUntilAsked(root, { timeout_seconds: 5 });
  expect(await t.ended(runId)).toMatchObject({ status: "error", error: { type: "timeout" } });
  expect(await pendingOf(runId)).toBeUndefined();
  expect(writes()).toEqual([]);
});

test("a parent with its own open confirmation ends too", async () => {
  const slow = await t.makeAgent({ goal: "Slow." });
  const parent = await t.makeAgent({ goal: "Parent.", tools: [asTool(slow, "slow"), "idp_role_create"] });
  parts({
    Parent: () => ({ calls: [...asks().calls, { name: "slow", args: {} }] }),
    Slow: afterMs(20_000),
  });
  const { runId, asked } = await t.runUntilAsked(parent, { timeout_seconds: 5 });
  expect(await t.ended(runId)).toMatchObject({ status: "error", error: { type: "timeout" } });
  expect(await t.confirmations(runId)).toMatchObject([{ id: asked.id, status: "expired" }]);
  expect(writes()).toEqual([]);
});

test("an answer is refused once the time is used up or the run is cancelled, even before it has ended", async () => {
  parts({ Parent: both, Asking: asks, Slow: afterMs(300) });
  const family = await makeFamily();
  for (const spent of ["active_ms = timeout_ms", "cancel_requested = true"]) {
    const { runId, asked } = await t.runUntilAsked(family);
    await waitFor("the slow one", async () => {
      const { runs } = (await t.gantry.call("GET", `/v1/runs?parent_run_id=${runId}`)).body;
      return runs.some(({ status }: { status: string }) => status === "done");
    });
    const { sql } = t.gantry.database;
    // As if another node had just claimed it to end it.
    await sql`update runs set holder = 'elsewhere' where id = ${runId}`;
    await sql`update runs set ${sql.unsafe(spent)} where id = ${runId}`;
    const late = await t.answer(runId, asked.id, { approve: true });
    expect([late.status, late.body.error?.type], late.text).toEqual([409, "conflict"]);
    expect(await pendingOf(runId)).toMatchObject({ id: asked.id });
    await sql`update runs set holder = null, claim = claim + 1 where id = ${runId}`;
    await t.gantry.call("POST", `/v1/runs/${runId}/cancel`);
    expect(await t.ended(runId)).toMatchObject({ status: "error" });
  }
  expect(writes()).toEqual([]);
});

test("an open confirmation can be answered while time is left, however long ago the sibling ended", async () => {
  parts({ Parent: both, Asking: asks, Slow: afterMs(1_000) });
  const { runId, asked } = await t.runUntilAsked(await makeFamily(), { timeout_seconds: 5 });
  await sleep(5_500);
  const answered = await t.answer(runId, asked.id, { approve: true });
  expect(answered.status, answered.text).toBe(200);
  expect(await t.ended(runId)).toMatchObject({ status: "done" });
  expect(writes()).toMatchObject([{ method: "POST" }]);
});
