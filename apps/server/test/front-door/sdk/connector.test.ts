import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createClient, type GantryClient, type GantryError } from "../../../../../packages/sdk/src/index.ts";
import { selfSigned } from "../../../src/engines/net/self-signed.fixture.ts";
import { tenantState } from "../../../src/features/connectors/idp/tenant-routes.fixture.ts";
import { serveTenant, type TenantServer } from "../../../src/features/connectors/idp/tenant-server.fixture.ts";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import { allScopes } from "../../support/idp-connector.ts";
import { inTurn } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

let t: AgentRuns;
let tenant: TenantServer;
let client: GantryClient;
let stranger: GantryClient;

beforeAll(async () => {
  t = await startAgentRuns();
  tenant = await serveTenant(selfSigned);
  client = createClient({ url: t.gantry.url, key: t.gantry.adminKey });
  stranger = createClient({ url: t.gantry.url, key: await t.gantry.newUser("stranger") });
});
afterAll(async () => {
  await t.close();
  await tenant.close();
});
beforeEach(async () => {
  tenant.state = tenantState();
  tenant.script.length = 0;
  tenant.delayMs = 0;
  await client.idp.configure({ domain: tenant.domain, token: tenant.issue(allScopes) });
  tenant.seen.length = 0;
});

const failureOf = (promise: Promise<unknown>): Promise<GantryError> =>
  promise.then(
    () => Promise.reject(new Error("it did not fail")),
    (error) => error,
  );
const writes = () => tenant.seen.filter(({ method }) => method !== "GET");

describe("the identity connector", () => {
  test("is set up, read and removed per user", async () => {
    const token = tenant.issue(["read:users"], 7200);
    const stored = await client.idp.configure({ domain: `https://${tenant.domain}/`, token });
    expect(stored).toEqual({
      domain: tenant.domain,
      token_last4: token.slice(-4),
      scopes: ["read:users"],
      expires_at: expect.any(String),
      warnings: [expect.stringContaining("read:tenant_settings")],
    });
    expect(await client.idp.get()).toEqual(stored);
    expect(await failureOf(stranger.idp.get())).toMatchObject({ status: 404, type: "not_found" });
    expect(await client.idp.delete()).toBeUndefined();
    for (const call of [client.idp.get, client.idp.delete]) {
      expect(await failureOf(call())).toMatchObject({ status: 404 });
    }
  });

  test("is not set up with an invalid domain or token", async () => {
    const before = await client.idp.get();
    const domain = await failureOf(client.idp.configure({ domain: "http://x.example", token: "abcdefgh" }));
    expect(domain).toMatchObject({ status: 400, type: "invalid_input" });
    expect(domain.issues.map(({ loc }) => loc.join("."))).toEqual(["body.domain"]);
    const token = await failureOf(client.idp.configure({ domain: tenant.domain, token: "not.a.token" }));
    expect(token).toMatchObject({ status: 400, type: "invalid_input" });
    expect(await client.idp.get()).toEqual(before);
  });

  test("lists its actions", async () => {
    await client.idp.configure({ domain: tenant.domain, token: tenant.issue(["read:users"]) });
    const actions = await client.idp.actions();
    expect(actions.length).toBe(60);
    const named = new Map(actions.map((action) => [action.name, action]));
    expect(named.get("idp_user_get")).toMatchObject({ kind: "read", method: "GET", allowed_by_token: true });
    expect(named.get("idp_user_delete")).toMatchObject({ kind: "write", destructive: true, allowed_by_token: false });
  });
});

describe("an action", () => {
  test("that reads is executed with its secrets masked", async () => {
    const { result } = await client.idp.run("idp_user_get", { id: "auth0|ann" });
    expect(result).toMatchObject({ email: "ann@example.com" });
    expect(JSON.stringify(result)).not.toContain("ya29.upstream");
    expect(await client.idp.run("idp_roles_list")).toMatchObject({ result: expect.anything() });
  });

  test("that writes returns a preview first, and is executed after confirmation", async () => {
    const args = { id: "rol_1", description: "Edits and more" };
    const asked = await failureOf(client.idp.run("idp_role_update", args));
    expect(asked).toMatchObject({
      status: 409,
      type: "confirmation_required",
      details: {
        method: "PATCH",
        path: "/roles/rol_1",
        body: { description: "Edits and more" },
        changes: { description: { old: "Edits", new: "Edits and more" } },
      },
    });
    expect((await failureOf(client.idp.run("idp_role_update", args, { confirm: false }))).status).toBe(409);
    expect(writes()).toEqual([]);
    const done = await client.idp.run("idp_role_update", args, { confirm: true });
    expect(done.result).toMatchObject({ id: "rol_1", description: "Edits and more" });
    expect(writes().length).toBe(1);
  });

  test("that is invalid, unknown, refused by the tenant or another user's gets its own error", async () => {
    const wrong = await failureOf(client.idp.run("idp_user_get", { id: ".." }));
    expect(wrong).toMatchObject({ status: 400, type: "invalid_input" });
    expect(wrong.issues[0]?.loc).toContain("id");
    expect(await failureOf(client.idp.run("idp_nothing"))).toMatchObject({ status: 404, type: "not_found" });
    expect(await failureOf(client.idp.run("idp_user_get", { id: "auth0|unknown" }))).toMatchObject({
      status: 502,
      type: "upstream_error",
      details: { status: 404 },
    });
    const unset = await failureOf(stranger.idp.run("idp_user_get", { id: "auth0|ann" }));
    expect(unset).toMatchObject({ status: 404, type: "not_found" });
    expect(tenant.seen.length).toBe(1);
    await expect(client.idp.run("..")).rejects.toThrow(TypeError);
  });

  test("that only reads is stopped by aborting", async () => {
    tenant.delayMs = 5000;
    const leaving = new AbortController();
    const reading = client.idp.run("idp_user_get", { id: "auth0|ann" }, { signal: leaving.signal });
    await waitFor("the tenant to be asked", () => tenant.seen.length === 1);
    const before = tenant.abandoned;
    leaving.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    await waitFor("the tenant to be left", () => tenant.abandoned === before + 1);
  });
});

describe("a secret created by a run", () => {
  test("is returned to its caller once", async () => {
    t.llm.script = inTurn({ calls: [{ name: "idp_client_rotate_secret", args: { id: "cli_1" } }] }, { text: "done" });
    const agent = await t.makeAgent({ tools: ["idp_client_rotate_secret"] });
    const { id } = await client.runs.create(agent, { input: {}, approve: ["idp_client_rotate_secret"], wait: 20 });
    const { events } = await client.runs.listEvents(id);
    const told = events.find((event) => event.type === "tool_result")?.result ?? "";
    const secretId = /\/secrets\/(sec_\w+)/.exec(told)?.[1] ?? "";
    expect(secretId, told).not.toBe("");
    expect(await failureOf(stranger.runs.takeSecret(id, secretId))).toMatchObject({ status: 404 });
    let sent = 0;
    const lossy: typeof fetch = async (...args) => {
      sent++;
      await fetch(...args);
      throw new TypeError("fetch failed");
    };
    expect(await client.runs.takeSecret(id, secretId)).toEqual({
      id: secretId,
      field: "client_secret",
      value: expect.stringMatching(/^fresh-secret-/),
    });
    expect(await failureOf(client.runs.takeSecret(id, secretId))).toMatchObject({ status: 404, type: "not_found" });
    const unlucky = createClient({ url: t.gantry.url, key: t.gantry.adminKey, fetch: lossy });
    expect(await failureOf(unlucky.runs.takeSecret(id, secretId))).toMatchObject({ type: "connection_error" });
    expect(sent).toBe(1);
  });
});
