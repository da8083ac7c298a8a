import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { selfSigned } from "../../../src/engines/net/self-signed.fixture.ts";
import {
  echoTool,
  type ScriptedServer,
  scriptedServer,
  text,
} from "../../../src/engines/tools/scripted-server.fixture.ts";
import { tenantState } from "../../../src/features/connectors/idp/tenant-routes.fixture.ts";
import { serveTenant, type TenantServer } from "../../../src/features/connectors/idp/tenant-server.fixture.ts";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import { allScopes } from "../../support/idp-connector.ts";
import { inTurn, type LlmAnswer } from "../../support/scripted-llm.ts";

/** An approval is valid only for the target shown. */

let t: AgentRuns;
let tenant: TenantServer;
let elsewhere: TenantServer;

beforeAll(async () => {
  t = await startAgentRuns();
  [tenant, elsewhere] = await Promise.all([serveTenant(selfSigned), serveTenant(selfSigned)]);
});
afterAll(async () => {
  await t.close();
  await Promise.all([tenant.close(), elsewhere.close()]);
});
beforeEach(async () => {
  t.llm.requests.length = 0;
  for (const one of [tenant, elsewhere]) {
    one.script.length = 0;
    one.state = { ...tenantState(), tokens: one.state.tokens };
  }
  await connectTo(tenant);
});

/** Clears both recordings, so that the set-up does not count. */
async function connectTo(one: TenantServer): Promise<void> {
  const json = { domain: one.domain, token: one.issue(allScopes) };
  const set = await t.gantry.call("PUT", "/v1/connectors/idp", { json });
  expect(set.status, set.text).toBe(200);
  for (const each of [tenant, elsewhere]) each.seen.length = 0;
}

const call = (name: string, args: object = {}): LlmAnswer => ({ calls: [{ name, args }] });
const linesOf = ({ seen }: TenantServer) => seen.map(({ method, path }) => `${method} ${path.replace("/api/v2", "")}`);
const rotated = "POST /clients/cli_1/rotate-secret";
const notMade = /target of the call has changed.*not made/;

async function askToRotate() {
  t.llm.script = inTurn(call("idp_client_rotate_secret", { id: "cli_1" }), { text: "done" });
  return t.runUntilAsked(await t.makeAgent({ tools: ["idp_client_rotate_secret"] }));
}

async function approve({ runId, asked }: { runId: string; asked: { id: string } }): Promise<void> {
  expect((await t.answer(runId, asked.id, { approve: true })).body).toMatchObject({ status: "approved" });
  expect(await t.ended(runId)).toMatchObject({ status: "done" });
}

/** As an earlier version stored it: bound only to tool and arguments. */
const forgetTarget = (runId: string) =>
  t.gantry.database.sql`
    update run_confirmations set arguments_hash = split_part(arguments_hash, '.', 1) where run_id = ${runId}`;

describe("the tenant of a confirmation", () => {
  test("is the one called; if the caller's connector changed, nothing is called", async () => {
    const question = await askToRotate();
    expect(question.asked.details.tenant).toBe(tenant.domain);
    await connectTo(elsewhere);
    await approve(question);
    expect(t.told(1)[0]).toMatch(notMade);
    expect([...linesOf(tenant), ...linesOf(elsewhere)]).toEqual([]);
    const types = (await t.events(question.runId)).map(({ type }) => type);
    expect(types).not.toContain("tool_call");
    expect(types).toContain("tool_result");
  });

  test("stays the same with another token, and after switching back", async () => {
    const question = await askToRotate();
    await connectTo(elsewhere);
    await connectTo(tenant);
    await approve(question);
    expect([linesOf(tenant), linesOf(elsewhere)]).toEqual([[rotated], []]);
  });

  test("was removed: reported", async () => {
    const question = await askToRotate();
    expect((await t.gantry.call("DELETE", "/v1/connectors/idp")).status).toBe(204);
    await approve(question);
    expect(t.told(1)[0]).toMatch(/PUT \/v1\/connectors\/idp[\s\S]*not called/);
    expect(linesOf(tenant)).toEqual([]);
  });

  test("also counts for a read with a confirmation", async () => {
    t.llm.script = inTurn(call("idp_roles_list"), { text: "done" });
    const tools = [{ type: "tool", id: "idp_roles_list", confirm: "always" }];
    const question = await t.runUntilAsked(await t.makeAgent({ tools }));
    await connectTo(elsewhere);
    await approve(question);
    expect(t.told(1)[0]).toMatch(notMade);
    expect(linesOf(elsewhere)).toEqual([]);
  });

  test("also counts for a read that had started when its worker died", async () => {
    t.llm.script = inTurn(call("idp_roles_list"), { text: "done" });
    const tools = [{ type: "tool", id: "idp_roles_list", confirm: "always" }];
    const { runId, asked } = await t.runUntilAsked(await t.makeAgent({ tools }));
    tenant.script.push("silence");
    await t.answer(runId, asked.id, { approve: true });
    await expect.poll(() => linesOf(tenant)).toEqual(["GET /roles"]);
    await connectTo(elsewhere);
    const { sql } = t.gantry.database;
    await sql`select release_runs(holder) from runs where id = ${runId}`;
    expect(await t.ended(runId)).toMatchObject({ status: "done" });
    expect(t.told(1)[0]).toMatch(notMade);
    expect(linesOf(elsewhere)).toEqual([]);
  });

  test("of a confirmation from before an upgrade is the one it shows", async () => {
    const same = await askToRotate();
    await forgetTarget(same.runId);
    await approve(same);
    expect(linesOf(tenant)).toEqual([rotated]);
    t.llm.requests.length = 0;
    const other = await askToRotate();
    await forgetTarget(other.runId);
    await connectTo(elsewhere);
    await approve(other);
    expect(t.told(1)[0]).toMatch(notMade);
    expect(linesOf(elsewhere)).toEqual([]);
  });
});

describe("the tool server of a confirmation", () => {
  const servers: ScriptedServer[] = [];
  let names = 0;
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  async function serve() {
    const wipe = { ...echoTool, name: "wipe", annotations: { destructiveHint: true } };
    const server = await scriptedServer({
      "on tools/list": ({ answer }) => answer({ tools: [wipe] }),
      "on tools/call": ({ answer }) => answer(text("wiped")),
    });
    servers.push(server);
    return server;
  }

  async function askToWipe() {
    const [first, second] = [await serve(), await serve()];
    const json = { name: `wiper${++names}`, url: first.url, connection_type: "streamable_http" };
    const made = await t.gantry.call("POST", "/v1/mcp-servers", { json });
    expect(made.status, made.text).toBe(201);
    t.llm.script = inTurn(call(`${json.name}__wipe`), { text: "done" });
    const question = await t.runUntilAsked(await t.makeAgent({ mcp_servers: [{ id: made.body.id }] }));
    const change = async (fields: object) => {
      const changed = await t.gantry.call("PATCH", `/v1/mcp-servers/${made.body.id}`, { json: fields });
      expect(changed.body, changed.text).toMatchObject({ status: "connected" });
    };
    return { first, second, question, change };
  }

  const wiped = ({ messages }: ScriptedServer) => messages.filter(({ method }) => method === "tools/call").length;

  test("is the one called, with any credential; if its address changed, it is not called", async () => {
    const stays = await askToWipe();
    await stays.change({ auth: { type: "bearer", token: "another-token" } });
    await approve(stays.question);
    expect([t.told(1)[0], wiped(stays.first)]).toEqual(["wiped", 1]);
    t.llm.requests.length = 0;
    const moves = await askToWipe();
    await moves.change({ url: moves.second.url });
    await approve(moves.question);
    expect(t.told(1)[0]).toMatch(notMade);
    expect([wiped(moves.first), wiped(moves.second)]).toEqual([0, 0]);
  });

  test("of a confirmation from before an upgrade is unknown, so the call is made", async () => {
    const { question, first } = await askToWipe();
    await forgetTarget(question.runId);
    await approve(question);
    expect(wiped(first)).toBe(1);
  });
});

describe("a secret that is shown once", () => {
  test("is not consumed by a HEAD request", async () => {
    const question = await askToRotate();
    await approve(question);
    const path = /\/v1\/runs\/\S+\/secrets\/\S+/.exec(t.told(1)[0] ?? "")?.[0] ?? "";
    const looked = await t.gantry.fetch("HEAD", path);
    expect([looked.status, looked.headers.get("allow")]).toEqual([405, "GET"]);
    const fetched = await t.gantry.call("GET", path);
    expect(fetched.body, fetched.text).toMatchObject({ field: "client_secret", value: "fresh-secret-1000" });
    expect((await t.gantry.call("GET", path)).status).toBe(404);
  });
});
