import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { selfSigned } from "../../src/engines/net/self-signed.fixture.ts";
import { serveTenant, type TenantServer } from "../../src/features/connectors/idp/tenant-server.fixture.ts";
import { type AgentRuns, startAgentRuns } from "../support/agent-runs.ts";
import { allScopes } from "../support/idp-connector.ts";
import { inTurn } from "../support/scripted-llm.ts";

let t: AgentRuns;
let tenant: TenantServer;
/** The owner's own key, and two that were made for an application. */
let whole: { key: string };
let confined: { key: string };
let another: { key: string };
let confinedId: string;

beforeAll(async () => {
  t = await startAgentRuns();
  tenant = await serveTenant(selfSigned);
  whole = { key: await t.gantry.newUser("alice") };
  const json = { models: ["admin/llm"] };
  const made = await t.gantry.call("POST", "/api/v2/keys", { ...whole, json });
  confined = { key: made.body.key };
  confinedId = made.body.id;
  another = { key: (await t.gantry.call("POST", "/api/v2/keys", { ...whole, json })).body.key };
  const connector = { domain: tenant.domain, token: tenant.issue(allScopes) };
  const set = await t.gantry.call("PUT", "/v1/connectors/idp", { ...whole, json: connector });
  expect(set.status, set.text).toBe(200);
});
afterAll(async () => {
  await t.close();
  await tenant.close();
});
beforeEach(() => {
  tenant.seen.length = 0;
});

const writes = () => tenant.seen.filter(({ method }) => method !== "GET");
const call = (name: string, args: object = {}) => ({ calls: [{ name, args }] });
const forbidden = (answer: { status: number; body: { error?: { type: string; message: string } } }) => {
  expect([answer.status, answer.body.error?.type], JSON.stringify(answer.body)).toEqual([403, "forbidden"]);
  expect(answer.body.error?.message).toContain("This key is confined to some models and may not ");
};

/** An agent of the owner that asks before it does something harmless. */
const askingAgent = () =>
  t.makeAgent({ tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] }, { key: whole.key });
const asks = () => {
  t.llm.script = inTurn(call("run_javascript", { code: "6 * 7" }), { text: "done" });
};

describe("of a run that another key started, a confined key", () => {
  test("neither approves nor denies what the connector is to do, and does not get the secret of it", async () => {
    t.llm.script = inTurn(call("idp_client_rotate_secret", { id: "cli_1" }), { text: "done" });
    const agent = await t.makeAgent({ tools: ["idp_client_rotate_secret"] }, whole);
    const { runId, asked } = await t.runUntilAsked(agent, {}, whole);
    for (const approve of [true, false]) forbidden(await t.answer(runId, asked.id, { approve }, confined));
    expect(await t.confirmations(runId, confined)).toMatchObject([{ id: asked.id, status: "pending" }]);
    expect(writes()).toEqual([]);

    expect((await t.answer(runId, asked.id, { approve: true }, whole)).status).toBe(200);
    expect(await t.ended(runId, whole)).toMatchObject({ status: "done" });
    const result = (await t.events(runId, whole)).find(({ type }) => type === "tool_result");
    const path = /\/v1\/runs\/\S+\/secrets\/\S+/.exec(result.result)?.[0] ?? "";
    const refused = await t.gantry.call("GET", path, confined);
    forbidden(refused);
    expect(refused.text).not.toContain("fresh-secret");
    // It was not used up by who did not get it.
    const fetched = await t.gantry.call("GET", path, whole);
    expect([fetched.status, fetched.body.value]).toEqual([200, expect.stringContaining("fresh-secret")]);
  });

  test("answers nothing else either, in whatever run below it is asked; it may still read and cancel", async () => {
    const child = await askingAgent();
    const parent = await t.makeAgent({ tools: [{ type: "agent", agent_id: child, name: "child" }] }, whole);
    t.llm.script = inTurn(call("child"), call("run_javascript", { code: "6 * 7" }), { text: "done" });
    const { runId, asked } = await t.runUntilAsked(parent, {}, whole);
    expect(asked.run_id).not.toBe(runId);
    for (const id of [runId, asked.run_id]) forbidden(await t.answer(id, asked.id, { approve: true }, confined));
    forbidden(await t.answer(runId, "conf_none", { approve: true }, confined));
    expect((await t.gantry.call("GET", `/v1/runs/${runId}`, confined)).status).toBe(200);
    const cancelled = await t.gantry.call("POST", `/v1/runs/${runId}/cancel`, confined);
    expect(cancelled.body).toMatchObject({ status: "error", error: { type: "cancelled" } });
  });

  test("of another user is not told that there is one", async () => {
    asks();
    const agent = await t.makeAgent({ tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] });
    const { runId, asked } = await t.runUntilAsked(agent);
    expect((await t.answer(runId, asked.id, { approve: true }, confined)).status).toBe(404);
    expect((await t.gantry.call("GET", `/v1/runs/${runId}/secrets/sec_x`, confined)).status).toBe(404);
  });
});

describe("of a run that it started itself, a confined key", () => {
  test("answers what is asked, also below, once; another such key does not", async () => {
    const child = await askingAgent();
    const parent = await t.makeAgent({ tools: [{ type: "agent", agent_id: child, name: "child" }] }, whole);
    t.llm.script = inTurn(call("child"), call("run_javascript", { code: "6 * 7" }), { text: "done" });
    const { runId, asked } = await t.runUntilAsked(parent, {}, confined);
    forbidden(await t.answer(runId, asked.id, { approve: true }, another));
    expect((await t.answer(runId, asked.id, { approve: true }, confined)).body).toMatchObject({ status: "approved" });
    expect(await t.ended(runId, confined)).toMatchObject({ status: "done" });
    expect((await t.answer(runId, asked.id, { approve: true }, confined)).status).toBe(409);
  });

  test("its owner answers with another key, too", async () => {
    asks();
    const { runId, asked } = await t.runUntilAsked(await askingAgent(), {}, confined);
    expect((await t.answer(runId, asked.id, { approve: true }, whole)).status).toBe(200);
    expect(await t.ended(runId, whole)).toMatchObject({ status: "done" });
  });

  test("never answers for the connector and fetches no secret of it, should there come to be one", async () => {
    asks();
    const { runId, asked } = await t.runUntilAsked(await askingAgent(), {}, confined);
    const { sql } = t.gantry.database;
    await sql`update run_confirmations set tool = 'idp_role_delete' where id = ${asked.id}`;
    forbidden(await t.answer(runId, asked.id, { approve: true }, confined));
    // The tool of a server that is called so is no action.
    await sql`update run_confirmations set tool = 'idp_server__delete' where id = ${asked.id}`;
    expect((await t.answer(runId, asked.id, { approve: false }, confined)).status).toBe(200);
    await t.ended(runId, confined);
    forbidden(await t.gantry.call("GET", `/v1/runs/${runId}/secrets/sec_x`, confined));
  });

  test("is the same key after it was rotated", async () => {
    asks();
    const { runId, asked } = await t.runUntilAsked(await askingAgent(), {}, confined);
    const rotated = await t.gantry.call("POST", `/api/v2/keys/${confinedId}/rotate`, { ...confined, json: {} });
    expect(rotated.status, rotated.text).toBe(200);
    expect((await t.answer(runId, asked.id, { approve: true }, confined)).status).toBe(401);
    confined = { key: rotated.body.key };
    expect((await t.answer(runId, asked.id, { approve: true }, confined)).status).toBe(200);
    expect(await t.ended(runId, confined)).toMatchObject({ status: "done" });
  });
});
