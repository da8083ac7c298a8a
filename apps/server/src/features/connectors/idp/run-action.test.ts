import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { allScopes, type IdpUnderTest, idpUnderTest } from "../../../../test/support/idp-connector.ts";
import { Fault } from "../../../kernel/errors.ts";
import { realSleep } from "./call-tenant.ts";
import { maskCall } from "./mask.rules.ts";
import { refusal, tenantState } from "./tenant-routes.fixture.ts";

let t: IdpUnderTest;
let token = "";
beforeAll(async () => {
  t = await idpUnderTest();
});
afterAll(() => t.close());
beforeEach(async () => {
  t.tenant.state = { ...tenantState(), tokens: t.tenant.state.tokens };
  t.restart();
  token = await t.configure();
});
afterEach(() => {
  expect(t.tenant.script).toEqual([]);
  t.tenant.delayMs = 0;
});

const run = (name: string, given: Record<string, unknown> = {}) => t.idp.runAction(t.userId, name, given);

async function failing(name: string, given: Record<string, unknown> = {}): Promise<Fault> {
  const error = await run(name, given).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
}

const told = (failure: Fault) => failure.issues[0].msg;
const detailsOf = (failure: Fault) => failure.issues[0].ctx ?? {};
const ok = { status: 200, body: [] };
const seconds = (ahead: number) => String(Math.floor(Date.now() / 1000) + ahead);

describe("an error of the tenant", () => {
  it("401 explains the token and is not returned as a 401", async () => {
    t.tenant.state.tokens.delete(token);
    const failure = await failing("idp_users_list");
    expect(failure.type).toBe("downstream_service_error");
    expect(detailsOf(failure)).toMatchObject({ action: "idp_users_list", status: 401, error_code: "invalid_token" });
    expect(told(failure)).toMatch(/Store a new one with PUT/);
    t.passTime(86_400_000);
    expect(told(await failing("idp_users_list"))).toMatch(/expired at/);
  });

  it("403 names the missing scope", async () => {
    token = await t.configure(["read:roles"]);
    const failure = await failing("idp_user_logs_list", { user_id: "auth0|ann" });
    expect(detailsOf(failure)).toMatchObject({ status: 403, missing_scopes: ["read:logs", "read:logs_users"] });
    expect(told(failure)).toContain("grant it one of read:logs, read:logs_users");
    t.tenant.script.push(refusal(403, "Forbidden", "insufficient_scope"));
    expect(detailsOf(await failing("idp_role_delete", { id: "r" }))).toMatchObject({
      missing_scopes: ["delete:roles"],
    });
  });

  it("403 for other reasons names the plan", async () => {
    t.tenant.script.push(refusal(403, "Not in your plan", "insufficient_entitlement"));
    const failure = await failing("idp_organizations_list");
    expect(told(failure)).toMatch(/plan or settings/);
    expect(detailsOf(failure)).not.toHaveProperty("missing_scopes");
  });

  it("404 tells how to create a missing email template", async () => {
    expect(detailsOf(await failing("idp_user_get", { id: "auth0|missing" }))).toMatchObject({
      status: 404,
      error_code: "inexistent_user",
    });
    const update = await failing("idp_email_template_update", { template_name: "verify_email", enabled: true });
    expect(told(update)).toContain("idp_email_template_create");
  });

  it("409 names the existing object", async () => {
    expect(detailsOf(await failing("idp_role_create", { name: "editor" }))).toMatchObject({
      status: 409,
      what_to_do: expect.stringContaining("exists already"),
    });
  });

  it.each([
    [
      "Payload validation error: 'Object didn't pass validation for format email: x' on property email (The email).",
      "email",
    ],
    ["Payload validation error: 'Missing required property: name'.", "name"],
    ["Payload validation error: 'Additional properties not allowed: colour'.", "colour"],
    ['"options.domain" is required', "options.domain"],
  ])("400 with the field: %s", async (message, field) => {
    t.tenant.script.push(refusal(400, message, "invalid_body"));
    const failure = await failing("idp_client_create", { name: "New" });
    expect(detailsOf(failure)).toMatchObject({ status: 400, message, field, error_code: "invalid_body" });
    expect(told(failure)).toContain(message);
  });

  it("covers 422, redirects and error pages", async () => {
    t.tenant.script.push(
      refusal(422, "Unprocessable"),
      { status: 302, headers: { location: "/" } },
      { status: 418, body: "<p>" },
    );
    expect(detailsOf(await failing("idp_role_create", { name: "x" }))).toMatchObject({ status: 422 });
    expect(told(await failing("idp_roles_list"))).toMatch(/redirect.*Check the domain/);
    expect(detailsOf(await failing("idp_roles_list"))).toMatchObject({ status: 418 });
  });

  it("points from rules to actions", async () => {
    t.tenant.script.push(refusal(403, "Rules are not available", "feature_not_enabled"));
    expect(told(await failing("idp_rule_create", { name: "a", script: "b" }))).toContain("idp_action_… actions");
  });
});

describe("retries", () => {
  it("follow a 429 after Retry-After, also for writes", async () => {
    t.tenant.script.push({ ...refusal(429, "Too many"), headers: { "retry-after": "3" } });
    await run("idp_role_create", { name: "later" });
    expect(t.waits).toEqual([3000]);
    expect(t.tenant.seen.map(({ method }) => method)).toEqual(["POST", "POST"]);
  });

  it("wait, and stop waiting on abort", async () => {
    const real = t.open({ sleep: realSleep });
    const refused = { ...refusal(429, "Too many"), headers: { "retry-after": "1" } };
    t.tenant.script.push(refused);
    const started = Date.now();
    await real.runAction(t.userId, "idp_users_list", {});
    expect(Date.now() - started).toBeGreaterThanOrEqual(990);
    t.tenant.script.push({ ...refused, headers: { "retry-after": "20" } });
    const leaving = new AbortController();
    const waiting = real.runAction(t.userId, "idp_users_list", {}, leaving.signal);
    setTimeout(() => leaving.abort(new Error("gone")), 200);
    await expect(waiting).rejects.toThrow("gone");
    expect(t.tenant.seen).toHaveLength(3);
  });

  it("end at once with rate_limit if the wait is too long", async () => {
    t.tenant.script.push({ ...refusal(429, "Too many"), headers: { "retry-after": "3600" } });
    const failure = await failing("idp_users_list");
    expect(failure).toMatchObject({ type: "rate_limit", status: 429, retryAfterSeconds: 3600 });
    expect(detailsOf(failure)).toMatchObject({ action: "idp_users_list", status: 429, retry_after_seconds: 3600 });
    expect(t.waits).toEqual([]);
  });

  it("end with rate_limit after some attempts", async () => {
    const refused = { ...refusal(429, "Too many"), headers: { "retry-after": "1" } };
    t.tenant.script.push(refused, refused, refused, refused, refused);
    expect((await failing("idp_users_list")).type).toBe("rate_limit");
    expect(t.waits).toEqual([1000, 1000, 1000, 1000]);
  });

  it("send nothing while the tenant's limit is used up", async () => {
    t.tenant.script.push({ ...ok, headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": seconds(1000) } });
    await run("idp_users_list");
    // A moment far away closes for a minute at most, which is still more than an action waits.
    const failure = await failing("idp_users_list");
    expect(failure.type).toBe("rate_limit");
    expect(t.tenant.seen).toHaveLength(1);
    t.passTime(61_000);
    await run("idp_users_list");
    expect(t.tenant.seen).toHaveLength(2);
  });

  it("wait for the end of a short closure", async () => {
    t.tenant.script.push({ ...ok, headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": seconds(6) } });
    await run("idp_users_list");
    await run("idp_users_list");
    expect(t.waits).toEqual([expect.closeTo(5500, -3)]);
    expect(t.tenant.seen).toHaveLength(2);
  });

  it("repeat a GET after a 5xx or a broken connection", async () => {
    t.tenant.script.push(refusal(503, "Down"), "cut");
    await run("idp_users_list");
    expect(t.tenant.seen).toHaveLength(3);
    t.tenant.script.push(refusal(500, "A"), refusal(502, "B"), refusal(500, "C"));
    const failure = await failing("idp_users_list");
    expect(detailsOf(failure)).toMatchObject({ status: 500, message: "C" });
    expect(failure.retryable).toBe(true);
  });

  it("never repeat a write after a 5xx or without an answer", async () => {
    t.tenant.script.push(refusal(500, "Oops"));
    const failed = await failing("idp_role_create", { name: "x" });
    expect(told(failed)).toMatch(/whether the change was made is unknown/);
    expect(detailsOf(failed)).toMatchObject({ status: 500, outcome: "unknown" });
    expect(failed.retryable).toBe(false);
    t.tenant.script.push("cut");
    expect(detailsOf(await failing("idp_role_create", { name: "y" }))).toMatchObject({
      status: null,
      outcome: "unknown",
    });
    expect(t.tenant.seen).toHaveLength(2);
  });

  it("have a timeout per call", async () => {
    const hasty = t.open({ limits: { callMs: 200 } });
    t.tenant.script.push("silence");
    const failure = await hasty.runAction(t.userId, "idp_user_delete", { id: "x" }).catch((error) => error);
    expect(detailsOf(failure)).toMatchObject({ reason: "timeout", outcome: "unknown" });
  });

  it("have a size limit per answer", async () => {
    const small = t.open({ limits: { maxBytes: 100 } });
    const failure = await small.runAction(t.userId, "idp_users_list", {}).catch((error) => error);
    expect(detailsOf(failure)).toMatchObject({ reason: "too_large", what_to_do: expect.stringContaining("per_page") });
  });

  it("treat a success without JSON as a failure", async () => {
    t.tenant.script.push({ status: 200, body: "<p>" }, { status: 200, body: "<p>" }, { status: 200, body: "<p>" });
    expect(told(await failing("idp_users_list"))).toContain("not JSON");
  });

  it("stop on abort, also while waiting for a slot", async () => {
    t.tenant.delayMs = 300;
    const leaving = new AbortController();
    const others = [run("idp_users_list"), run("idp_users_list")];
    await vi.waitFor(() => expect(t.tenant.seen).toHaveLength(2), { interval: 5 });
    const waiting = t.idp.runAction(t.userId, "idp_users_list", {}, leaving.signal);
    setTimeout(() => leaving.abort(new Error("gone")), 100);
    await expect(waiting).rejects.toThrow("gone");
    await Promise.all(others);
    expect(t.tenant.seen).toHaveLength(2);
  });
});

it("sends at most two calls at a time to one tenant", async () => {
  t.tenant.delayMs = 40;
  t.tenant.mostAtOnce = 0;
  await Promise.all(Array.from({ length: 8 }, () => run("idp_role_get", { id: "rol_1" })));
  expect(t.tenant.mostAtOnce).toBe(2);
  expect(t.tenant.seen).toHaveLength(8);
});

describe("results", () => {
  it("contain totals, or a cursor if requested", async () => {
    expect((await run("idp_roles_list", { per_page: 1 })).forCaller.result).toMatchObject({
      start: 0,
      limit: 1,
      total: 1,
    });
    expect((await run("idp_organizations_list", { take: 1 })).forCaller.result).toEqual({
      organizations: [{ id: "org_1", name: "acme", display_name: "Acme" }],
    });
    expect((await run("idp_actions_list")).forCaller.result).toMatchObject({ total: 1, page: 0, per_page: 25 });
  });

  it.each([
    ["idp_users_list", {}, /ya29|1\/\/upstream/],
    ["idp_user_get", { id: "auth0|ann" }, /ya29|1\/\/upstream/],
    ["idp_clients_list", {}, /shop-secret|-----CERT|PKCS7-----/],
    ["idp_client_get", { id: "cli_1" }, /shop-secret|-----CERT|PKCS7-----/],
    ["idp_connections_list", {}, /goog-secret|conf-secret/],
    ["idp_connection_get", { id: "con_1" }, /goog-secret|conf-secret/],
    ["idp_resource_servers_list", { include_totals: false }, /sign-secret/],
    ["idp_logs_list", {}, /typed|t0k/],
    ["idp_log_get", { id: "log_1" }, /typed|t0k/],
    ["idp_client_update", { id: "cli_1", client_secret: "my-new-secret" }, /my-new-secret|CERT-----/],
  ])("%s shows no secret", async (name, given, secret) => {
    const outcome = await run(name, given);
    expect(JSON.stringify(outcome)).not.toMatch(secret);
    expect(JSON.stringify(outcome)).toContain("[hidden]");
  });

  it("hide the management token if the tenant repeats it", async () => {
    t.tenant.script.push({ status: 200, body: { name: `for ${token}` } }, refusal(400, `Bad ${token} and hunter22`));
    expect((await run("idp_role_get", { id: "r" })).forCaller.result).toEqual({ name: "for [hidden]" });
    const failure = await failing("idp_user_create", { connection: "db", password: "hunter22" });
    expect(told(failure)).toContain("Bad [hidden] and [hidden]");
    expect(JSON.stringify(failure.issues) + t.logged()).not.toMatch(new RegExp(`hunter22|${token}`));
  });

  it("an empty answer is a success", async () => {
    const outcome = await run("idp_user_roles_assign", { user_id: "auth0|ann", roles: ["rol_1"] });
    expect(outcome).toEqual({ forCaller: { result: null }, forModel: { result: { done: true } } });
  });

  it("a rotated secret goes to the caller once, its last four characters to the model", async () => {
    const outcome = await run("idp_client_rotate_secret", { id: "cli_1" });
    expect(outcome).toEqual({
      forCaller: { result: { client_id: "cli_1", client_secret: "fresh-secret-1000" } },
      forModel: { result: { client_id: "cli_1", client_secret: "…1000" } },
      oneTimeSecret: { field: "client_secret", value: "fresh-secret-1000", last4: "1000" },
    });
    t.tenant.script.push({ status: 200, body: { client_id: "cli_1" } });
    expect(await run("idp_client_rotate_secret", { id: "cli_1" })).not.toHaveProperty("oneTimeSecret");
  });

  it("warn about an expiring token and advisory limits", async () => {
    token = await t.configure(allScopes, 600);
    const [warning] = (await run("idp_roles_list")).forModel.warnings ?? [];
    expect(warning).toMatch(/expires in (9|10) min/);
    token = await t.configure();
    const long = {
      name: "o".repeat(51),
      metadata: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, "v"])),
    };
    const outcome = await run("idp_organization_create", long);
    expect(outcome.forCaller.warnings).toEqual([
      expect.stringMatching(/^name must have at most 50 characters; the tenant may refuse it/),
      expect.stringMatching(/^metadata /),
    ]);
  });
});

describe("special cases", () => {
  it("lists existing templates, without those that the tenant lacks", async () => {
    const { result } = (await run("idp_email_templates_list")).forCaller;
    expect((result as { template: string }[]).map(({ template }) => template)).toEqual([
      "reset_email",
      "welcome_email",
    ]);
    expect(t.tenant.seen).toHaveLength(14);
    expect(t.tenant.seen.map(({ path }) => path)).toContain("/api/v2/email-templates/async_approval");
  });

  it("does not mistake a missing scope for a missing template", async () => {
    await t.configure(["read:users"]);
    expect(detailsOf(await failing("idp_email_templates_list"))).toMatchObject({
      status: 403,
      missing_scopes: ["read:email_templates"],
    });
    expect(t.tenant.seen).toHaveLength(1);
  });

  it("deploys once the draft is built", async () => {
    t.tenant.state.buildsLeft = 3;
    expect((await run("idp_action_deploy", { id: "act_1" })).forModel.result).toMatchObject({ deployed: true });
    expect(t.waits).toEqual([2000, 2000, 2000]);
  });

  it("gives up on a draft that is never built, and at once on other errors", async () => {
    t.tenant.state.buildsLeft = 1000;
    expect(told(await failing("idp_action_deploy", { id: "act_1" }))).toContain("'built' state");
    expect(t.tenant.seen).toHaveLength(20);
    t.tenant.script.push(refusal(400, "The code does not compile"));
    await failing("idp_action_deploy", { id: "act_1" });
    expect(t.tenant.seen).toHaveLength(21);
  });
});

describe("the confirmation of a write", () => {
  const preview = (name: string, given: Record<string, unknown>) => t.idp.previewWrite(t.userId, name, given);

  it("shows action, tenant, call and masked body, and sends nothing for a creation", async () => {
    const given = { connection: "db", email: "a@example.com", password: "hunter22", user_metadata: { a: 1 } };
    expect(await preview("idp_user_create", given)).toEqual({
      action: "idp_user_create",
      description: "Adds a user to a database or passwordless connection.",
      tenant: t.tenant.domain,
      method: "POST",
      path: "/users",
      body: { ...given, password: "[hidden]" },
      destructive: false,
      warnings: [],
    });
    expect(t.tenant.seen).toEqual([]);
  });

  it("shows what an update changes, by one GET, with secrets masked", async () => {
    const given = {
      id: "cli_1",
      name: "Shop",
      description: "New",
      client_secret: "other-secret",
      callbacks: ["https://x"],
    };
    const { changes, ...rest } = await preview("idp_client_update", given);
    expect(changes).toEqual({
      description: { old: "Old", new: "New" },
      client_secret: { old: "[hidden]", new: "[hidden]" },
      callbacks: { new: ["https://x"] },
    });
    expect(rest).toMatchObject({ method: "PATCH", path: "/clients/cli_1", body: { client_secret: "[hidden]" } });
    expect(t.tenant.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /api/v2/clients/cli_1"]);
  });

  it("masks nested secrets and shows scripts", async () => {
    const options = { app_secret: "s-1", configuration: { KEY: "s-2" }, customScripts: { login: "s-3" }, domain: "d" };
    const { body } = await preview("idp_connection_create", { name: "c", strategy: "auth0", options });
    expect(body).toMatchObject({
      options: {
        app_secret: "[hidden]",
        configuration: { KEY: "[hidden]" },
        customScripts: { login: "s-3" },
        domain: "d",
      },
    });
    const secrets = [{ name: "K", value: "s-4" }];
    const made = await preview("idp_action_create", { name: "a", supported_triggers: [{ id: "post-login" }], secrets });
    expect(made.body).toMatchObject({ secrets: [{ name: "K", value: "[hidden]" }] });
  });

  it("is shown also if the old values cannot be read", async () => {
    await t.configure(["update:roles"]);
    expect(await preview("idp_role_update", { id: "rol_1", name: "x" })).toMatchObject({
      warnings: ["The current values could not be read (403)"],
    });
    await t.configure();
    const missing = await preview("idp_role_update", { id: "rol_9", name: "x" });
    expect(missing.warnings).toEqual(["The tenant does not have this object (404)"]);
    expect(missing).not.toHaveProperty("changes");
  });

  it("names what cannot be undone, the query, and the real path", async () => {
    expect(await preview("idp_action_delete", { id: "act_1", force: true })).toMatchObject({
      method: "DELETE",
      path: "/actions/actions/act_1?force=true",
      body: null,
      destructive: true,
    });
    expect(await preview("idp_client_rotate_secret", { id: "a|b" })).toMatchObject({
      path: "/clients/a%7Cb/rotate-secret",
    });
  });

  it("is not shown for a read or invalid arguments", async () => {
    await expect(preview("idp_users_list", {})).rejects.toMatchObject({ type: "conflict" });
    await expect(preview("idp_role_create", {})).rejects.toMatchObject({ type: "missing" });
  });
});

it("masks arguments for events and logs", () => {
  expect(maskCall("idp_user_update", { id: "auth0|ann", password: "hunter22", name: "A" })).toEqual({
    id: "auth0|ann",
    password: "[hidden]",
    name: "A",
  });
  const options = { bindPassword: "b", client_secret: "c", domain: "d" };
  expect(maskCall("idp_connection_update", { id: "con_1", options })).toEqual({
    id: "con_1",
    options: { bindPassword: "[hidden]", client_secret: "[hidden]", domain: "d" },
  });
});

it("keeps the token sealed and bound to its owner and tenant", async () => {
  const [row] = await t.database.sql<{ row: string; sealed: Buffer }[]>`
    select to_jsonb(c)::text as row, sealed_token as sealed from idp_connectors c`;
  expect(row?.row).not.toContain(token);
  expect(row?.sealed.toString("latin1")).not.toContain(token.slice(0, 20));
  await t.database.sql`update idp_connectors set domain = 'other.example.com'`;
  await expect(run("idp_users_list")).rejects.toMatchObject({ type: "conflict", message: /store it again/ });
  expect(t.tenant.seen).toEqual([]);
});
