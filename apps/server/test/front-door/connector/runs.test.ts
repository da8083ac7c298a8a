import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { selfSigned } from "../../../src/engines/net/self-signed.fixture.ts";
import { actionCases } from "../../../src/features/connectors/idp/action-table.fixture.ts";
import { actions } from "../../../src/features/connectors/idp/action-table.ts";
import { refusal, tenantState } from "../../../src/features/connectors/idp/tenant-routes.fixture.ts";
import { serveTenant, type TenantServer } from "../../../src/features/connectors/idp/tenant-server.fixture.ts";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import { allScopes } from "../../support/idp-connector.ts";
import { inTurn, type LlmAnswer } from "../../support/scripted-llm.ts";

let t: AgentRuns;
let tenant: TenantServer;
let token: string;
/** A user with its own tenant, and one without. */
let other: string;
let otherTenant: TenantServer;
let bare: string;

async function setUp(domain: string, given: string, key?: string): Promise<void> {
  const json = { domain, token: given };
  const set = await t.gantry.call("PUT", "/v1/connectors/idp", { json, ...(key !== undefined && { key }) });
  expect(set.status, set.text).toBe(200);
}

beforeAll(async () => {
  t = await startAgentRuns();
  [tenant, otherTenant] = await Promise.all([serveTenant(selfSigned), serveTenant(selfSigned)]);
  other = await t.gantry.newUser("other");
  bare = await t.gantry.newUser("bare");
  token = tenant.issue(allScopes);
  await setUp(tenant.domain, token);
  await setUp(otherTenant.domain, otherTenant.issue(allScopes), other);
});
afterAll(async () => {
  await t.close();
  await Promise.all([tenant.close(), otherTenant.close()]);
});
beforeEach(() => {
  t.llm.script = () => ({ text: "done" });
  t.llm.requests.length = 0;
  for (const one of [tenant, otherTenant]) {
    one.seen.length = 0;
    one.script.length = 0;
    one.state = { ...tenantState(), tokens: one.state.tokens };
  }
});

const call = (name: string, args: object = {}): LlmAnswer => ({ calls: [{ name, args }] });
const writesSeen = (at = tenant) => at.seen.filter(({ method }) => method !== "GET");
const lineOf = ({ method, path }: { method: string; path: string }) => `${method} ${path.replace("/api/v2", "")}`;

/** Messages to the model, without its own. */
const prompts = () =>
  JSON.stringify(t.llm.requests.map(({ messages }) => messages.filter(({ role }) => role !== "assistant")));

/** All stored rows of a run. */
async function stored(runId: string): Promise<string> {
  const { sql } = t.gantry.database;
  const rows = await Promise.all([
    sql`select * from runs where id = ${runId}`,
    sql`select * from run_steps where run_id = ${runId}`,
    sql`select * from run_calls where run_id = ${runId}`,
    sql`select * from run_events where run_id = ${runId}`,
    sql`select * from run_confirmations where run_id = ${runId}`,
    sql`select encode(sealed, 'escape') as sealed from run_secrets where run_id = ${runId}`,
  ]);
  return JSON.stringify(rows);
}

describe("reads", () => {
  const reads = actions.filter(({ kind }) => kind === "read").map(({ name }) => name);

  test("of all kinds need no confirmation, and their secrets are masked", async () => {
    const calls = reads.map((name) => ({ name, args: actionCases[name]?.given ?? {} }));
    t.llm.script = inTurn({ calls: [{ name: "idp_users_list", args: {} }, ...calls] }, { text: "done" });
    const done = await t.run(await t.makeAgent({ tools: reads }));
    expect(done.body, done.text).toMatchObject({ status: "done" });
    expect(await t.confirmations(done.body.id)).toEqual([]);
    expect(writesSeen()).toEqual([]);
    for (const name of reads) {
      expect(
        tenant.seen.some((seen) => lineOf(seen) === actionCases[name]?.sent),
        name,
      ).toBe(true);
    }
    const [users = "", ...told] = t.told(1);
    expect(told).toHaveLength(reads.length);
    for (const [at, result] of told.entries()) expect(JSON.parse(result), reads[at]).toHaveProperty("result");
    expect(JSON.parse(users).result).toMatchObject({ total: 3, users: [{ email: "ann@example.com" }, {}, {}] });
    const shown = `${await t.everythingShown(done.body.id)}${await stored(done.body.id)}`;
    for (const secret of [token, "ya29.upstream", "1//upstream", "shop-secret-value-1234", "goog-secret"]) {
      expect(shown.includes(secret), secret).toBe(false);
    }
    for (const secret of ["conf-secret", "sign-secret", "-----PKCS7-----", '"typed"']) {
      expect(shown.includes(secret), secret).toBe(false);
    }
  });

  test("need a confirmation if the binding says so", async () => {
    t.llm.script = inTurn(call("idp_roles_list"), { text: "done" });
    const tools = [{ type: "tool", id: "idp_roles_list", confirm: "always" }];
    const { runId, asked } = await t.runUntilAsked(await t.makeAgent({ tools }));
    expect(asked).toMatchObject({ tool: "idp_roles_list" });
    expect(tenant.seen).toEqual([]);
    await t.answer(runId, asked.id, { approve: true });
    expect(await t.ended(runId)).toMatchObject({ status: "done" });
    expect(t.told(1)[0]).toContain("editor");
  });
});

describe("writes", () => {
  const writes = actions.filter(({ kind }) => kind === "write").map(({ name }) => name);
  const calls = writes.map((name) => ({ name, args: actionCases[name]?.given ?? {} }));

  async function askAll() {
    t.llm.script = inTurn({ calls }, { text: "done" });
    const { runId } = await t.runUntilAsked(await t.makeAgent({ tools: writes }));
    const asked = await t.confirmations(runId);
    expect(asked.map(({ tool }) => tool).sort()).toEqual([...writes].sort());
    return { runId, asked };
  }

  test("all 34 confirmations show action, tenant, path, masked body and changes; denied writes are not sent", async () => {
    const { runId, asked } = await askAll();
    expect(writes).toHaveLength(34);
    expect(writesSeen()).toEqual([]);
    for (const { tool, details } of asked) {
      const { sent = "", body } = actionCases[tool] ?? {};
      expect(details, tool).toMatchObject({ action: tool, tenant: tenant.domain, method: sent.split(" ")[0] });
      expect(details.path.split("?")[0], tool).toBe(sent.split(" ")[1]);
      if (body === undefined) expect(details.body, tool).toBeNull();
      else expect(Object.keys(details.body).sort(), tool).toEqual(Object.keys(body as object).sort());
      const action = actions.find(({ name }) => name === tool);
      if (action?.method === "PATCH") expect(details.changes, tool).toEqual(expect.any(Object));
      expect(details.destructive, tool).toBe(action?.destructive === true);
    }
    const created = asked.find(({ tool }) => tool === "idp_user_create");
    expect(created.arguments).toMatchObject({ email: "new@example.com", password: "[hidden]" });
    expect(created.details.body).toMatchObject({ email: "new@example.com", password: "[hidden]" });
    const changed = asked.find(({ tool }) => tool === "idp_client_update");
    expect(changed.details.changes).toEqual({ description: { old: "Old", new: "Better" } });
    for (const { id } of asked) expect((await t.answer(runId, id, { approve: false })).status).toBe(200);
    expect(await t.ended(runId)).toMatchObject({ status: "done" });
    expect(writesSeen()).toEqual([]);
    expect(t.told(1).every((result) => /denied/.test(result))).toBe(true);
    expect(await t.everythingShown(runId)).not.toContain(token);
  });

  test("all 34, approved, are sent once, as in the specification's table", async () => {
    const { runId, asked } = await askAll();
    await Promise.all(asked.map(({ id }) => t.answer(runId, id, { approve: true })));
    expect(await t.ended(runId)).toMatchObject({ status: "done" });
    const expected = writes.map((name) => actionCases[name]?.sent);
    expect(writesSeen().map(lineOf).sort()).toEqual(expected.sort());
    for (const name of writes) {
      const seen = writesSeen().find((one) => lineOf(one) === actionCases[name]?.sent);
      expect(seen?.body, name).toEqual(actionCases[name]?.body);
    }
    const twice = await t.answer(runId, asked[0].id, { approve: true });
    expect([twice.status, twice.body.error.type]).toEqual([409, "conflict"]);
    expect(writesSeen()).toHaveLength(34);
  });

  test("their secrets are masked in events, confirmations, logs and results, and never reach a prompt", async () => {
    t.llm.script = inTurn(
      {
        text: "Making the user.",
        calls: [
          { name: "idp_user_create", args: { connection: "db", email: "a@b.c", password: "Pass-Word-Secret" } },
          { name: "idp_client_update", args: { id: "cli_1", client_secret: "Own-Client-Secret-0123456789" } },
          // Not JSON, so it cannot be parsed.
          { name: "idp_user_create", args: '{"connection": "db", "password": "Broken-Secret"' },
          // Invalid, and refused before a confirmation.
          { name: "idp_user_create", args: { email: "nowhere", password: "Refused-Secret" } },
        ],
      },
      { text: "done" },
    );
    const agent = await t.makeAgent({ tools: ["idp_user_create", "idp_client_update"] });
    const { runId } = await t.runUntilAsked(agent);
    const asked = await t.confirmations(runId);
    expect(asked).toHaveLength(2);
    for (const { id } of asked) await t.answer(runId, id, { approve: true });
    expect(await t.ended(runId)).toMatchObject({ status: "done" });
    expect(writesSeen().map(({ body }) => body)).toEqual(
      expect.arrayContaining([{ connection: "db", email: "a@b.c", password: "Pass-Word-Secret" }]),
    );
    expect(t.told(1)[3]).toMatch(/connection[\s\S]*not called|not called[\s\S]*connection/);
    const events = JSON.stringify(await t.events(runId));
    const open = `${events}${JSON.stringify(await t.confirmations(runId))}${t.gantry.logged()}${prompts()}`;
    for (const secret of ["Pass-Word-Secret", "Own-Client-Secret", "Broken-Secret", "Refused-Secret", token]) {
      expect(open.includes(secret), secret).toBe(false);
    }
    expect(asked.find(({ tool }) => tool === "idp_client_update").details.changes.client_secret).toEqual({
      old: "[hidden]",
      new: "[hidden]",
    });
  });

  test("approved in advance need no confirmation and are sent once; others need one", async () => {
    t.llm.script = inTurn(call("idp_role_create", { name: "viewer" }), call("idp_role_delete", { id: "rol_1" }), {
      text: "done",
    });
    const agent = await t.makeAgent({ tools: ["idp_role_create", "idp_role_delete"] });
    const { runId, asked } = await t.runUntilAsked(agent, { approve: ["idp_role_create"] });
    expect(asked).toMatchObject({ tool: "idp_role_delete", details: { destructive: true } });
    expect(writesSeen().map(lineOf)).toEqual(["POST /roles"]);
    await t.answer(runId, asked.id, { approve: false });
    await t.ended(runId);
    expect(writesSeen()).toHaveLength(1);
  });

  test("confirm: never is a 400 that names the field, on create and update", async () => {
    const tools = ["idp_roles_list", { type: "tool", id: "idp_role_delete", confirm: "never" }];
    const json = { name: "Careless", goal: "x", tools, model: "admin/llm" };
    const refused = await t.gantry.call("POST", "/v1/agents", { json });
    expect([refused.status, refused.body.error.type]).toEqual([400, "invalid_input"]);
    expect(JSON.stringify(refused.body.error.details)).toContain("confirm");
    const agent = await t.makeAgent();
    expect((await t.gantry.call("PATCH", `/v1/agents/${agent}`, { json: { tools } })).status).toBe(400);
  });

  test("an unanswered confirmation expires after 24 h, and nothing is sent", async () => {
    t.llm.script = inTurn(call("idp_role_delete", { id: "rol_1" }), { text: "done" });
    const { runId, asked } = await t.runUntilAsked(await t.makeAgent({ tools: ["idp_role_delete"] }));
    const left = Date.parse(asked.expires_at) - Date.now();
    expect(left).toBeGreaterThan(23.9 * 3_600_000);
    expect(left).toBeLessThanOrEqual(24 * 3_600_000);
    await t.gantry.database.sql`update run_confirmations set expires_at = now() where id = ${asked.id}`;
    expect((await t.answer(runId, asked.id, { approve: true })).status).toBe(409);
    expect(await t.ended(runId)).toMatchObject({ status: "done" });
    expect(t.told(1)[0]).toContain("not answered in time");
    expect(writesSeen()).toEqual([]);
  });

  test("an approval is valid only for the arguments shown", async () => {
    t.llm.script = inTurn(call("idp_role_delete", { id: "rol_1" }), { text: "done" });
    const { runId, asked } = await t.runUntilAsked(await t.makeAgent({ tools: ["idp_role_delete"] }));
    await t.gantry.database.sql`update run_calls set arguments = '{"id": "rol_2"}' where run_id = ${runId}`;
    await t.answer(runId, asked.id, { approve: true });
    await t.ended(runId);
    expect(t.told(1)[0]).toContain("not those that were approved");
    expect(writesSeen()).toEqual([]);
  });

  test("only the caller can answer a confirmation", async () => {
    t.llm.script = inTurn(call("idp_role_delete", { id: "rol_1" }), { text: "done" });
    const { runId, asked } = await t.runUntilAsked(await t.makeAgent({ tools: ["idp_role_delete"] }));
    expect((await t.answer(runId, asked.id, { approve: true }, { key: other })).status).toBe(404);
    expect((await t.gantry.call("GET", `/v1/runs/${runId}/confirmations`, { key: other })).status).toBe(404);
    await t.gantry.call("POST", `/v1/runs/${runId}/cancel`);
    expect((await t.answer(runId, asked.id, { approve: true })).status).toBe(409);
    expect(writesSeen()).toEqual([]);
  });
});

describe("idp_client_rotate_secret", () => {
  async function rotate(): Promise<{ runId: string; path: string; secret: string }> {
    t.llm.script = inTurn(call("idp_client_rotate_secret", { id: "cli_1" }), { text: "done" });
    const { runId, asked } = await t.runUntilAsked(await t.makeAgent({ tools: ["idp_client_rotate_secret"] }));
    const secret = `fresh-secret-${1000 + tenant.state.secrets}`;
    await t.answer(runId, asked.id, { approve: true });
    expect(await t.ended(runId)).toMatchObject({ status: "done" });
    expect(writesSeen().map(lineOf)).toEqual(["POST /clients/cli_1/rotate-secret"]);
    const result = (await t.events(runId)).find(({ type }) => type === "tool_result");
    const path = /\/v1\/runs\/\S+\/secrets\/\S+/.exec(result.result)?.[0] ?? "";
    expect(path, result.result).toContain(runId);
    return { runId, path, secret };
  }

  test("shows the last four characters to the model and in events, and the whole secret once to the caller", async () => {
    const { runId, path, secret } = await rotate();
    expect(t.told(1)[0]).toContain(`…${secret.slice(-4)}`);
    const shown = `${await t.everythingShown(runId)}${await stored(runId)}`;
    expect(shown).not.toContain(secret);
    expect((await t.gantry.call("GET", path, { key: other })).status).toBe(404);
    expect((await t.gantry.call("GET", path.replace(/secrets\/.*/, "secrets/sec_x"))).status).toBe(404);
    const fetched = await t.gantry.call("GET", path);
    expect([fetched.status, fetched.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(fetched.body).toMatchObject({ field: "client_secret", value: secret });
    expect((await t.gantry.call("GET", path)).status).toBe(404);
    expect(t.gantry.logged()).not.toContain(secret);
  });

  test("is deleted after 24 hours", async () => {
    const { runId, path } = await rotate();
    const { sql } = t.gantry.database;
    const [kept] = await sql<{ hours: number }[]>`
      select extract(epoch from expires_at - now())::float8 / 3600 as hours from run_secrets where run_id = ${runId}`;
    expect(kept?.hours).toBeGreaterThan(23.9);
    expect(kept?.hours).toBeLessThanOrEqual(24);
    await sql`update run_secrets set expires_at = now() where run_id = ${runId}`;
    expect((await t.gantry.call("GET", path)).status).toBe(404);
  });
});

describe("whose tenant", () => {
  test("another user's agent uses the caller's tenant, and only with connectors: [idp]", async () => {
    const agent = await t.makeAgent({ tools: ["idp_users_list", "idp_role_delete"], visibility: "public" });
    const script = () => inTurn(call("idp_users_list"), call("idp_role_delete", { id: "rol_1" }), { text: "done" });
    t.llm.script = script();
    const without = await t.run(agent, {}, { key: other });
    expect(without.body, without.text).toMatchObject({ status: "done" });
    expect(t.told(2)).toEqual([
      expect.stringContaining('connectors: ["idp"]'),
      expect.stringContaining('connectors: ["idp"]'),
    ]);
    expect([...tenant.seen, ...otherTenant.seen]).toEqual([]);
    t.llm.script = script();
    const { runId, asked } = await t.runUntilAsked(agent, { connectors: ["idp"] }, { key: other });
    expect(asked.details).toMatchObject({ tenant: otherTenant.domain, action: "idp_role_delete" });
    expect((await t.answer(runId, asked.id, { approve: true })).status).toBe(404);
    await t.answer(runId, asked.id, { approve: true }, { key: other });
    expect(await t.ended(runId, { key: other })).toMatchObject({ status: "done" });
    expect(otherTenant.seen.map(lineOf)).toEqual(["GET /users", "DELETE /roles/rol_1"]);
    expect(tenant.seen).toEqual([]);
    const wrong = await t.run(agent, { connectors: ["mail"] }, { key: other });
    expect([wrong.status, wrong.body.error.type]).toEqual([400, "invalid_input"]);
  });

  test("another user's sub-agent needs the caller's permission, too", async () => {
    const theirs = await t.makeAgent({ name: "Lister", tools: ["idp_users_list"], visibility: "public" });
    const mine = await t.makeAgent({ tools: [{ type: "agent", agent_id: theirs, name: "list" }] }, { key: other });
    const script = () => inTurn(call("list", {}), call("idp_users_list"), { text: "inner" }, { text: "done" });
    t.llm.script = script();
    await t.run(mine, {}, { key: other });
    expect(prompts()).toContain("has not allowed the agent to use its identity connector");
    expect(otherTenant.seen).toEqual([]);
    t.llm.script = script();
    const done = await t.run(mine, { connectors: ["idp"] }, { key: other });
    expect(done.body, done.text).toMatchObject({ status: "done" });
    expect(otherTenant.seen.map(lineOf)).toEqual(["GET /users"]);
  });

  test("so does the caller's own agent below another user's", async () => {
    const mine = await t.makeAgent(
      { name: "My lister", tools: ["idp_users_list"], visibility: "public" },
      { key: other },
    );
    const theirs = await t.makeAgent({
      tools: [{ type: "agent", agent_id: mine, name: "list" }],
      visibility: "public",
    });
    t.llm.script = inTurn(call("list", {}), call("idp_users_list"), { text: "inner" }, { text: "done" });
    const done = await t.run(theirs, {}, { key: other });
    expect(done.body, done.text).toMatchObject({ status: "done" });
    expect(prompts()).toContain("has not allowed the agent to use its identity connector");
    expect([...otherTenant.seen, ...tenant.seen]).toEqual([]);
  });

  test("a key limited to some models cannot use it through a run", async () => {
    const made = await t.gantry.call("POST", "/api/v2/keys", { key: other, json: { models: ["admin/llm"] } });
    const confined = { key: made.body.key as string };
    t.llm.script = inTurn(call("idp_users_list"), call("idp_role_delete", { id: "rol_1" }), { text: "done" });
    const agent = await t.makeAgent({ tools: ["idp_users_list", "idp_role_delete"] }, { key: other });
    const done = await t.run(agent, { approve: ["idp_role_delete"] }, confined);
    expect(done.body, done.text).toMatchObject({ status: "done" });
    expect(t.told(2)).toEqual([
      expect.stringContaining("limited to some models"),
      expect.stringContaining("limited to some models"),
    ]);
    expect(otherTenant.seen).toEqual([]);
  });

  test("without a tenant, the model learns how to set one up, without a confirmation", async () => {
    t.llm.script = inTurn(call("idp_users_list"), call("idp_role_delete", { id: "rol_1" }), { text: "done" });
    const agent = await t.makeAgent({ tools: ["idp_users_list", "idp_role_delete"] }, { key: bare });
    const done = await t.run(agent, {}, { key: bare });
    expect(done.body, done.text).toMatchObject({ status: "done" });
    for (const told of t.told(2)) expect(told).toContain("PUT /v1/connectors/idp");
    expect(await t.confirmations(done.body.id, { key: bare })).toEqual([]);
  });
});

describe("refusals of the tenant are reported with advice", () => {
  const read = { name: "idp_user_get", args: { id: "auth0|ann" } };
  const write = { name: "idp_role_create", args: { name: "viewer" } };
  const cases = [
    ["401", read, refusal(401, "Invalid token", "invalid_token"), /token is wrong, expired or revoked/],
    ["403", read, refusal(403, "Insufficient scope, expected any of: read:users", "insufficient_scope"), /read:users/],
    ["403 of the plan", write, refusal(403, "Not on your plan", "insufficient_entitlement"), /plan/],
    ["404", read, refusal(404, "The user does not exist.", "inexistent_user"), /Check the id/],
    ["409", write, refusal(409, "It already exists."), /exists already/],
    ["400", write, refusal(400, "Payload validation error: 'Missing required property: name'."), /field name/],
    ["429", read, { ...refusal(429, "Too many"), headers: { "retry-after": "120" } }, /Try again in \d+ s/],
    ["500 of a write", write, refusal(500, "oops"), /whether the change was made is unknown/],
    ["a write that is cut", write, "cut" as const, /Whether the change was made is unknown/],
  ] as const;

  test.each(cases)("%s", async (_name, { name, args }, answer, said) => {
    // The gate remembers a rate-limited tenant, so each case has its own.
    const own = await serveTenant(selfSigned);
    try {
      const key = await t.gantry.newUser(`user${servers++}`);
      await setUp(own.domain, own.issue(allScopes), key);
      own.seen.length = 0;
      own.script.push(answer);
      t.llm.script = inTurn(call(name, args), { text: "done" });
      const done = await t.run(await t.makeAgent({ tools: [name] }, { key }), { approve: [name] }, { key });
      expect(done.body, done.text).toMatchObject({ status: "done" });
      expect(t.told(1)[0]).toMatch(said);
      expect(own.seen).toHaveLength(1);
    } finally {
      await own.close();
    }
  });
  let servers = 0;

  test("a read is retried after a 5xx, a write only after a 429", async () => {
    tenant.script.push(refusal(503, "later"));
    t.llm.script = inTurn(call(read.name, read.args), call(write.name, write.args), { text: "done" });
    const agent = await t.makeAgent({ tools: [read.name, write.name] });
    const { runId, asked } = await t.runUntilAsked(agent);
    expect(t.told(1)[0]).toContain("ann@example.com");
    tenant.script.push({ ...refusal(429, "Too many"), headers: { "retry-after": "1" } });
    await t.answer(runId, asked.id, { approve: true });
    expect(await t.ended(runId)).toMatchObject({ status: "done" });
    expect(t.told(2)[1]).toContain("viewer");
    expect(tenant.seen.map(lineOf)).toEqual([
      "GET /users/auth0%7Cann",
      "GET /users/auth0%7Cann",
      "POST /roles",
      "POST /roles",
    ]);
  });

  test("a run that is cancelled stops the call", async () => {
    tenant.script.push("silence");
    t.llm.script = inTurn(call(read.name, read.args), { text: "done" });
    const before = tenant.abandoned;
    const started = await t.run(await t.makeAgent({ tools: [read.name] }), { wait: 1 });
    const cancelled = await t.gantry.call("POST", `/v1/runs/${started.body.id}/cancel`);
    expect(cancelled.body).toMatchObject({ error: { type: "cancelled" } });
    await expect.poll(() => tenant.abandoned).toBe(before + 1);
  });
});

describe("a write inside a sub-agent", () => {
  async function askBelow() {
    const inner = await t.makeAgent({ name: "Inner", tools: ["idp_role_delete"] });
    const middle = await t.makeAgent({ tools: [{ type: "agent", agent_id: inner, name: "inner" }] });
    const outer = await t.makeAgent({ tools: [{ type: "agent", agent_id: middle, name: "middle" }] });
    t.llm.script = inTurn(
      call("middle", {}),
      call("inner", {}),
      call("idp_role_delete", { id: "rol_1" }),
      { text: "inner done" },
      { text: "middle done" },
      { text: "outer done" },
    );
    return t.runUntilAsked(outer);
  }

  test("shows its confirmation at the root run, where it is answered", async () => {
    const { runId, asked } = await askBelow();
    expect(asked.run_id).not.toBe(runId);
    expect(asked.details).toMatchObject({ action: "idp_role_delete", tenant: tenant.domain });
    const seen = await t.events(runId);
    expect(seen.at(-1)).toMatchObject({
      type: "confirmation_required",
      confirmation_id: asked.id,
      expires_at: asked.expires_at,
    });
    expect(await t.confirmations(asked.run_id)).toMatchObject([{ id: asked.id }]);
    await t.answer(runId, asked.id, { approve: true });
    expect(await t.ended(runId)).toMatchObject({ status: "done", output: { text: "outer done" } });
    expect(writesSeen().map(lineOf)).toEqual(["DELETE /roles/rol_1"]);
    const types = (await t.events(runId)).map(({ type }) => type);
    expect(types).toContain("confirmation_resolved");
    expect(types.at(-1)).toBe("completed");
  });

  test("denied at the root: the inner model learns of it, and nothing is sent", async () => {
    const { runId, asked } = await askBelow();
    await t.answer(runId, asked.id, { approve: false, reason: "Not now" });
    expect(await t.ended(runId)).toMatchObject({ status: "done" });
    expect(prompts()).toContain("Not now");
    expect(writesSeen()).toEqual([]);
  });

  test("a secret it created is returned at the root", async () => {
    const inner = await t.makeAgent({ tools: ["idp_client_rotate_secret"] });
    const outer = await t.makeAgent({ tools: [{ type: "agent", agent_id: inner, name: "inner" }] });
    t.llm.script = inTurn(call("inner", {}), call("idp_client_rotate_secret", { id: "cli_1" }), { text: "done" });
    const done = await t.run(outer, { approve: ["idp_client_rotate_secret"] });
    expect(done.body, done.text).toMatchObject({ status: "done" });
    const path = /\/v1\/runs\/(\S+)\/secrets\/[a-z0-9_]+/.exec(prompts());
    expect(path?.[1]).toBe(done.body.id);
    const fetched = await t.gantry.call("GET", path?.[0] ?? "");
    expect(fetched.body).toMatchObject({ field: "client_secret", value: "fresh-secret-1000" });
    expect(await t.everythingShown(done.body.id)).not.toContain("fresh-secret-1000");
  });
});
