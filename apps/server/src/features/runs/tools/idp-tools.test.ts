import { newId } from "@gantry/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type IdpUnderTest, idpUnderTest } from "../../../../test/support/idp-connector.ts";
import { refusal, tenantState } from "../../connectors/idp/tenant-routes.fixture.ts";
import { idpTool } from "./idp-tools.ts";
import { calling, execute, scopeOf } from "./run-scope.fixture.ts";

let t: IdpUnderTest;
let token = "";
const creator = newId("user");
beforeAll(async () => {
  t = await idpUnderTest();
});
afterAll(() => t.close());
beforeEach(async () => {
  t.tenant.state = { ...tenantState(), tokens: t.tenant.state.tokens };
  t.restart();
  token = await t.configure();
});

function toolOf(name: string, more: Parameters<typeof scopeOf>[1] = {}) {
  const info = t.idp.describeTools().find(({ id }) => id === name);
  if (!info) throw new Error(`no action ${name}`);
  return idpTool(info, { idp: t.idp }, scopeOf(t.userId, more));
}

const preview = (name: string, given: Record<string, unknown>, more: Parameters<typeof scopeOf>[1] = {}) =>
  toolOf(name, more).preview?.(calling(given));

describe("actions on the caller's tenant", () => {
  test("return what the model may see", async () => {
    const { text, isError } = await execute(toolOf("idp_user_get"), { id: "auth0|ann" });
    expect(isError).toBe(false);
    expect(JSON.parse(text).result).toMatchObject({ user_id: "auth0|ann" });
    expect(text).not.toContain(token);
    expect(JSON.parse((await execute(toolOf("idp_user_delete"), { id: "auth0|ann" })).text).result).toEqual({
      done: true,
    });
  });

  test("a write needs a confirmation, masks secrets and shows a preview", async () => {
    const [read, write] = [toolOf("idp_user_get"), toolOf("idp_user_create")];
    expect([read.kind, read.asks, read.preview]).toEqual(["read", false, undefined]);
    expect([write.kind, write.asks]).toEqual(["write", true]);
    const given = { connection: "db", email: "new@example.com", password: "hunter2hunter2" };
    expect(write.mask?.(given)).toEqual({ ...given, password: "[hidden]" });
    const question = await write.preview?.(calling(given));
    expect(question).toMatchObject({ method: "POST", path: "/users", tenant: t.tenant.domain });
    expect(JSON.stringify(question)).not.toContain("hunter2");
    await expect(preview("idp_user_create", {})).rejects.toMatchObject({ name: "Fault", type: "missing" });
    expect(t.tenant.seen.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  test("a rotated secret is shown once, to the caller", async () => {
    const [client] = JSON.parse((await execute(toolOf("idp_clients_list"), {})).text).result.clients;
    const outcome = await execute(toolOf("idp_client_rotate_secret"), { id: client.client_id });
    const { value = "", last4 } = outcome.oneTimeSecret ?? {};
    expect(outcome).toMatchObject({
      isError: false,
      oneTimeSecret: { field: "client_secret", last4: value.slice(-4) },
    });
    expect(value.length).toBeGreaterThan(8);
    expect(outcome.text).toContain(`…${last4}`);
    expect(outcome.text).not.toContain(value);
  });
});

describe("failures", () => {
  test("all invalid arguments", async () => {
    const { text, isError } = await execute(toolOf("idp_user_update"), { id: "..", emial: "x" });
    expect(isError).toBe(true);
    expect(text.split("\n").sort()).toEqual(["emial: Unknown field", 'id: ".." is not a valid id'].sort());
    expect(t.tenant.seen).toEqual([]);
  });

  test("a refusal of the tenant, with advice", async () => {
    const missing = await execute(toolOf("idp_user_get"), { id: "auth0|missing" });
    expect(missing.isError).toBe(true);
    expect(missing.text).toMatch(/The tenant does not have this object \(404\)[\s\S]*Check the id[\s\S]*"status":404/);
    token = await t.configure(["read:roles"]);
    const scopes = await execute(toolOf("idp_user_logs_list"), { user_id: "auth0|ann" });
    expect(scopes.text).toContain('"missing_scopes":["read:logs","read:logs_users"]');
    t.tenant.script.push(refusal(400, `broken ${token}`, "invalid_body"));
    const echoed = await execute(toolOf("idp_roles_list"), {});
    expect(echoed.isError).toBe(true);
    expect(echoed.text).not.toContain(token);
  });

  test("the rate limit with a time, a failing tenant, and no tenant", async () => {
    for (let times = 0; times < 30; times++) t.tenant.script.push({ ...refusal(429, "Too many"), headers: {} });
    const limited = await execute(toolOf("idp_roles_list"), {});
    t.tenant.script.length = 0;
    expect(limited).toMatchObject({ isError: true, text: expect.stringMatching(/Try again after \d+ seconds\.$/) });
    t.restart();
    t.tenant.script.push("cut");
    const cut = await execute(toolOf("idp_role_create"), { name: "new" });
    expect(cut).toMatchObject({ isError: true, text: expect.stringMatching(/Whether the change was made is unknown/) });
    await t.idp.remove(t.userId);
    expect(await execute(toolOf("idp_roles_list"), {})).toMatchObject({
      isError: true,
      text: expect.stringContaining("The identity connector is not set up"),
    });
  });

  test("an abort rejects with its reason", async () => {
    t.tenant.script.push("silence");
    const controller = new AbortController();
    const call = execute(toolOf("idp_roles_list"), {}, controller.signal);
    await expect.poll(() => t.tenant.seen.length).toBe(1);
    controller.abort(new Error("cancelled"));
    await expect(call).rejects.toThrow("cancelled");
  });
});

describe("another user's agent", () => {
  test("uses the caller's connector only with permission", async () => {
    const theirs = { ownerId: creator };
    expect(await execute(toolOf("idp_roles_list", theirs), {})).toEqual({
      text: expect.stringContaining('connectors: ["idp"]'),
      isError: true,
    });
    expect(await execute(toolOf("idp_roles_list", { ...theirs, connectors: ["other"] }), {})).toMatchObject({
      isError: true,
    });
    await expect(preview("idp_role_create", { name: "x" }, theirs)).rejects.toMatchObject({ type: "forbidden" });
    expect(t.tenant.seen).toEqual([]);
    const allowed = await execute(toolOf("idp_roles_list", { ...theirs, connectors: ["idp"] }), {});
    expect(allowed.isError).toBe(false);
    expect(t.tenant.seen).toHaveLength(1);
  });

  test("never uses the creator's connector", async () => {
    // The creator has a connector, the caller does not.
    const info = toolOf("idp_roles_list");
    const caller = newId("user");
    const scope = scopeOf(caller, { ownerId: t.userId, connectors: ["idp"] });
    const described = t.idp.describeTools().find(({ id }) => id === info.name);
    if (!described) throw new Error("no action");
    expect(await execute(idpTool(described, { idp: t.idp }, scope), {})).toMatchObject({
      isError: true,
      text: expect.stringContaining("not set up"),
    });
    expect(t.tenant.seen).toEqual([]);
  });
});
