import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type IdpUnderTest, idpUnderTest } from "../../../../test/support/idp-connector.ts";
import { Fault } from "../../../kernel/errors.ts";
import { actions } from "./action-table.ts";
import { tenantState } from "./tenant-routes.fixture.ts";

interface Case {
  /** As the specification's table has it. */
  specified: string;
  given: Record<string, unknown>;
  /** What the tenant must receive: the raw path below /api/v2, the query, the body. */
  sent: string;
  query?: string;
  body?: unknown;
}

const totals = "per_page=25&include_totals=true";
const permissions = [{ resource_server_identifier: "https://api.example.com/v1", permission_name: "read:x" }];
const template = {
  template: "verify_email",
  from: "a@b.c",
  subject: "S",
  syntax: "liquid",
  body: "<p>",
  enabled: true,
};

/** All 60, by hand: name, method and path of the specification, and the real call. */
const cases: Record<string, Case> = {
  idp_users_list: {
    specified: "GET /users",
    given: { page: 1, sort: "email:1", q: 'email:"a&b@c.d"' },
    sent: "GET /users",
    query: `page=1&${totals}&sort=email:1&q=email:"a&b@c.d"`,
  },
  idp_user_get: {
    specified: "GET /users/{id}",
    given: { id: "auth0|ann", fields: "email,name", include_fields: true },
    sent: "GET /users/auth0%7Cann",
    query: "fields=email,name&include_fields=true",
  },
  idp_user_create: {
    specified: "POST /users",
    given: { connection: "db", email: "new@example.com", password: "pass-word-1", user_id: "x1" },
    sent: "POST /users",
    body: { connection: "db", email: "new@example.com", password: "pass-word-1", user_id: "x1" },
  },
  idp_user_update: {
    specified: "PATCH /users/{id}",
    given: { id: "auth0|a/b c", blocked: true, given_name: null },
    sent: "PATCH /users/auth0%7Ca%2Fb%20c",
    body: { blocked: true, given_name: null },
  },
  idp_user_delete: {
    specified: "DELETE /users/{id}",
    given: { id: "google-oauth2|žluť" },
    sent: "DELETE /users/google-oauth2%7C%C5%BElu%C5%A5",
  },
  idp_user_roles_list: {
    specified: "GET /users/{user_id}/roles",
    given: { user_id: "auth0|ann" },
    sent: "GET /users/auth0%7Cann/roles",
    query: totals,
  },
  idp_user_roles_assign: {
    specified: "POST /users/{user_id}/roles",
    given: { user_id: "auth0|ann", roles: ["rol_1"] },
    sent: "POST /users/auth0%7Cann/roles",
    body: { roles: ["rol_1"] },
  },
  idp_user_roles_remove: {
    specified: "DELETE /users/{user_id}/roles",
    given: { user_id: "auth0|ann", roles: ["rol_1", "rol_2"] },
    sent: "DELETE /users/auth0%7Cann/roles",
    body: { roles: ["rol_1", "rol_2"] },
  },
  idp_user_logs_list: {
    specified: "GET /users/{user_id}/logs",
    given: { user_id: "auth0|ann", per_page: 5, sort: "date:-1" },
    sent: "GET /users/auth0%7Cann/logs",
    query: "per_page=5&sort=date:-1&include_totals=true",
  },
  idp_user_permissions_list: {
    specified: "GET /users/{user_id}/permissions",
    given: { user_id: "auth0|ann", include_totals: false },
    sent: "GET /users/auth0%7Cann/permissions",
    query: "per_page=25&include_totals=false",
  },
  idp_roles_list: {
    specified: "GET /roles",
    given: { name_filter: "edi" },
    sent: "GET /roles",
    query: `${totals}&name_filter=edi`,
  },
  idp_role_get: { specified: "GET /roles/{id}", given: { id: "rol_1" }, sent: "GET /roles/rol_1" },
  idp_role_create: {
    specified: "POST /roles",
    given: { name: "writer", description: "Writes" },
    sent: "POST /roles",
    body: { name: "writer", description: "Writes" },
  },
  idp_role_update: {
    specified: "PATCH /roles/{id}",
    given: { id: "rol_1", name: "chief" },
    sent: "PATCH /roles/rol_1",
    body: { name: "chief" },
  },
  idp_role_delete: { specified: "DELETE /roles/{id}", given: { id: "rol_1" }, sent: "DELETE /roles/rol_1" },
  idp_role_permissions_list: {
    specified: "GET /roles/{role_id}/permissions",
    given: { role_id: "rol_1" },
    sent: "GET /roles/rol_1/permissions",
    query: totals,
  },
  idp_role_permissions_add: {
    specified: "POST /roles/{role_id}/permissions",
    given: { role_id: "rol_1", permissions },
    sent: "POST /roles/rol_1/permissions",
    body: { permissions },
  },
  idp_role_permissions_remove: {
    specified: "DELETE /roles/{role_id}/permissions",
    given: { role_id: "rol_1", permissions },
    sent: "DELETE /roles/rol_1/permissions",
    body: { permissions },
  },
  idp_clients_list: {
    specified: "GET /clients",
    given: { is_global: false, q: "shop", take: 10 },
    sent: "GET /clients",
    query: "is_global=false&q=shop&take=10",
  },
  idp_client_get: { specified: "GET /clients/{id}", given: { id: "cli_1" }, sent: "GET /clients/cli_1" },
  idp_client_create: {
    specified: "POST /clients",
    given: { name: "New", app_type: "spa", anything_else: { deep: [1] } },
    sent: "POST /clients",
    body: { name: "New", app_type: "spa", anything_else: { deep: [1] } },
  },
  idp_client_update: {
    specified: "PATCH /clients/{id}",
    given: { id: "cli_1", description: "Better" },
    sent: "PATCH /clients/cli_1",
    body: { description: "Better" },
  },
  idp_client_delete: { specified: "DELETE /clients/{id}", given: { id: "cli_1" }, sent: "DELETE /clients/cli_1" },
  idp_client_rotate_secret: {
    specified: "POST /clients/{id}/rotate",
    given: { id: "cli_1" },
    sent: "POST /clients/cli_1/rotate-secret",
  },
  idp_connections_list: {
    specified: "GET /connections",
    given: { strategy: ["auth0", "google-oauth2"], name: "google" },
    sent: "GET /connections",
    query: `${totals}&strategy=auth0&strategy=google-oauth2&name=google`,
  },
  idp_connection_get: { specified: "GET /connections/{id}", given: { id: "con_1" }, sent: "GET /connections/con_1" },
  idp_connection_create: {
    specified: "POST /connections",
    given: { name: "corp", strategy: "samlp", options: { signingCert: "x" } },
    sent: "POST /connections",
    body: { name: "corp", strategy: "samlp", options: { signingCert: "x" } },
  },
  idp_connection_update: {
    specified: "PATCH /connections/{id}",
    given: { id: "con_1", show_as_button: true },
    sent: "PATCH /connections/con_1",
    body: { show_as_button: true },
  },
  idp_connection_delete: {
    specified: "DELETE /connections/{id}",
    given: { id: "con_1" },
    sent: "DELETE /connections/con_1",
  },
  idp_resource_servers_list: {
    specified: "GET /resource-servers",
    given: { identifiers: ["https://a", "https://b?c=d"] },
    sent: "GET /resource-servers",
    query: `${totals}&identifiers=https://a&identifiers=https://b?c=d`,
  },
  idp_resource_server_get: {
    specified: "GET /resource-servers/{id}",
    given: { id: "https://api.example.com/v1" },
    sent: "GET /resource-servers/https%3A%2F%2Fapi.example.com%2Fv1",
  },
  idp_resource_server_create: {
    specified: "POST /resource-servers",
    given: { identifier: "https://new", scopes: [{ value: "read:x" }] },
    sent: "POST /resource-servers",
    body: { identifier: "https://new", scopes: [{ value: "read:x" }] },
  },
  idp_resource_server_update: {
    specified: "PATCH /resource-servers/{id}",
    given: { id: "api_1", token_lifetime: 60 },
    sent: "PATCH /resource-servers/api_1",
    body: { token_lifetime: 60 },
  },
  idp_resource_server_delete: {
    specified: "DELETE /resource-servers/{id}",
    given: { id: "api_1" },
    sent: "DELETE /resource-servers/api_1",
  },
  idp_grants_list: {
    specified: "GET /grants",
    given: { user_id: "auth0|ann", audience: "https://a" },
    sent: "GET /grants",
    query: `${totals}&user_id=auth0|ann&audience=https://a`,
  },
  idp_grant_delete: { specified: "DELETE /grants/{id}", given: { id: "cgr_1" }, sent: "DELETE /grants/cgr_1" },
  idp_logs_list: { specified: "GET /logs", given: { from: "0", take: 1 }, sent: "GET /logs", query: "from=0&take=1" },
  idp_log_get: { specified: "GET /logs/{id}", given: { id: "log_1" }, sent: "GET /logs/log_1" },
  idp_rules_list: {
    specified: "GET /rules",
    given: { enabled: true },
    sent: "GET /rules",
    query: `${totals}&enabled=true`,
  },
  idp_rule_get: { specified: "GET /rules/{id}", given: { id: "rul_1" }, sent: "GET /rules/rul_1" },
  idp_rule_create: {
    specified: "POST /rules",
    given: { name: "new rule", script: "function () {}" },
    sent: "POST /rules",
    body: { name: "new rule", script: "function () {}" },
  },
  idp_rule_update: {
    specified: "PATCH /rules/{id}",
    given: { id: "rul_1", enabled: false },
    sent: "PATCH /rules/rul_1",
    body: { enabled: false },
  },
  idp_rule_delete: { specified: "DELETE /rules/{id}", given: { id: "rul_1" }, sent: "DELETE /rules/rul_1" },
  idp_actions_list: {
    specified: "GET /actions/actions",
    given: { triggerId: "post-login", deployed: true },
    sent: "GET /actions/actions",
    query: "triggerId=post-login&deployed=true&per_page=25",
  },
  idp_action_get: {
    specified: "GET /actions/actions/{id}",
    given: { id: "act_1" },
    sent: "GET /actions/actions/act_1",
  },
  idp_action_create: {
    specified: "POST /actions/actions",
    given: {
      name: "a",
      supported_triggers: [{ id: "post-login", version: "v3" }],
      secrets: [{ name: "K", value: "v" }],
    },
    sent: "POST /actions/actions",
    body: {
      name: "a",
      supported_triggers: [{ id: "post-login", version: "v3" }],
      secrets: [{ name: "K", value: "v" }],
    },
  },
  idp_action_update: {
    specified: "PATCH /actions/actions/{id}",
    given: { id: "act_1", code: "exports.x = 1" },
    sent: "PATCH /actions/actions/act_1",
    body: { code: "exports.x = 1" },
  },
  idp_action_delete: {
    specified: "DELETE /actions/actions/{id}",
    given: { id: "act_1", force: true },
    sent: "DELETE /actions/actions/act_1",
    query: "force=true",
  },
  idp_action_deploy: {
    specified: "POST /actions/actions/{id}/deploy",
    given: { id: "act_1" },
    sent: "POST /actions/actions/act_1/deploy",
  },
  idp_organizations_list: {
    specified: "GET /organizations",
    given: { from: "0" },
    sent: "GET /organizations",
    query: "from=0",
  },
  idp_organization_get: {
    specified: "GET /organizations/{id}",
    given: { id: "org_1" },
    sent: "GET /organizations/org_1",
  },
  idp_organization_create: {
    specified: "POST /organizations",
    given: { name: "new-org", metadata: { tier: "gold" } },
    sent: "POST /organizations",
    body: { name: "new-org", metadata: { tier: "gold" } },
  },
  idp_organization_update: {
    specified: "PATCH /organizations/{id}",
    given: { id: "org_1", display_name: "ACME" },
    sent: "PATCH /organizations/org_1",
    body: { display_name: "ACME" },
  },
  idp_organization_delete: {
    specified: "DELETE /organizations/{id}",
    given: { id: "org_1" },
    sent: "DELETE /organizations/org_1",
  },
  idp_tenant_settings_get: {
    specified: "GET /tenants/settings",
    given: { fields: "friendly_name" },
    sent: "GET /tenants/settings",
    query: "fields=friendly_name",
  },
  idp_tenant_settings_update: {
    specified: "PATCH /tenants/settings",
    given: { friendly_name: "Renamed" },
    sent: "PATCH /tenants/settings",
    body: { friendly_name: "Renamed" },
  },
  idp_email_templates_list: {
    specified: "GET /email-templates",
    given: {},
    sent: "GET /email-templates/verify_email",
  },
  idp_email_template_get: {
    specified: "GET /email-templates/{template_name}",
    given: { template_name: "welcome_email" },
    sent: "GET /email-templates/welcome_email",
  },
  idp_email_template_create: {
    specified: "POST /email-templates",
    given: template,
    sent: "POST /email-templates",
    body: template,
  },
  idp_email_template_update: {
    specified: "PATCH /email-templates/{template_name}",
    given: { template_name: "welcome_email", enabled: false },
    sent: "PATCH /email-templates/welcome_email",
    body: { enabled: false },
  },
};

let t: IdpUnderTest;
let token = "";
beforeAll(async () => {
  t = await idpUnderTest();
  token = await t.configure();
});
afterAll(() => t.close());
beforeEach(() => {
  const { tokens } = t.tenant.state;
  t.tenant.state = { ...tenantState(), tokens };
});
afterEach(() => {
  t.tenant.seen.length = 0;
});

async function refusedWith(name: string, given: Record<string, unknown>): Promise<Fault> {
  const error = await t.idp.runAction(t.userId, name, given).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error, `${name} ${JSON.stringify(given)}`).toBeInstanceOf(Fault);
  return error as Fault;
}

it("has the 59 actions of the specification and the 60th, under their names, methods and paths", () => {
  expect(Object.fromEntries(actions.map(({ name, method, path }) => [name, `${method} ${path}`]))).toEqual(
    Object.fromEntries(Object.entries(cases).map(([name, { specified }]) => [name, specified])),
  );
  expect(actions).toHaveLength(60);
  expect(actions.filter(({ kind }) => kind === "read")).toHaveLength(26);
  for (const { kind, method } of actions) expect(kind === "read").toBe(method === "GET");
});

describe.each(Object.entries(cases))("%s", (name, { given, sent, query, body }) => {
  it("sends the right call and succeeds", async () => {
    const outcome = await t.idp.runAction(t.userId, name, given);
    const [first, ...more] = t.tenant.seen;
    expect(`${first?.method} ${first?.path}`).toBe(sent.replace(" ", " /api/v2"));
    expect(first?.query.map((pair) => pair.join("=")).join("&")).toBe(query ?? "");
    expect(first?.body).toEqual(body);
    expect(first?.authorization).toBe(`Bearer ${token}`);
    expect(first?.contentType).toBe(body === undefined ? undefined : "application/json");
    expect(more).toHaveLength(name === "idp_email_templates_list" ? 13 : 0);
    expect(outcome).toHaveProperty("forModel.result");
    expect(outcome).toHaveProperty("forCaller.result");
  });

  it("refuses wrong arguments before anything is sent", async () => {
    const action = actions.find((one) => one.name === name);
    const required = [...(action?.path_params ?? []).map((one) => one.name), ...(action?.body?.required ?? [])];
    for (const field of required) {
      const { [field]: _left, ...rest } = given;
      expect((await refusedWith(name, rest)).issues).toContainEqual(
        expect.objectContaining({ type: "missing", loc: ["body", "arguments", field] }),
      );
    }
    for (const { name: field } of action?.path_params ?? []) {
      for (const value of [".", "..", "", 7, null, "\ud800"]) {
        const { issues } = await refusedWith(name, { ...given, [field]: value });
        expect(issues[0].loc).toEqual(["body", "arguments", field]);
      }
    }
    if (action?.body?.additionalProperties !== true) {
      expect((await refusedWith(name, { ...given, surprise: 1 })).issues).toEqual([
        { type: "extra_forbidden", loc: ["body", "arguments", "surprise"], msg: "Unknown field" },
      ]);
    }
    if (action?.method === "PATCH") {
      const only = Object.fromEntries(action.path_params.map((one) => [one.name, given[one.name]]));
      expect((await refusedWith(name, only)).message).toMatch(/nothing to change/);
    }
    for (const { name: field, type } of action?.query_params ?? []) {
      const wrong = type === "string" ? 1 : "wrong";
      expect((await refusedWith(name, { ...given, [field]: wrong })).issues[0].loc).toContain(field);
    }
    expect(t.tenant.seen).toEqual([]);
  });
});

it("tells every fault of the arguments at once", async () => {
  const { issues } = await refusedWith("idp_user_create", {
    email: "nowhere",
    blocked: "yes",
    phone_number: "12",
    wat: 1,
  });
  expect(issues.map(({ type, loc }) => `${type} ${loc.at(-1)}`).sort()).toEqual([
    "bool_parsing blocked",
    "extra_forbidden wat",
    "missing connection",
    "value_error email",
    "value_error phone_number",
  ]);
  const nested = await refusedWith("idp_resource_server_create", { identifier: "x", scopes: [{ value: "a" }, {}] });
  expect(nested.issues).toEqual([
    { type: "missing", loc: ["body", "arguments", "scopes", 1, "value"], msg: "Field required" },
  ]);
  const long = await refusedWith("idp_users_list", { q: "x".repeat(5000) });
  expect(long.issues[0]).toMatchObject({ type: "string_too_long", loc: ["body", "arguments"] });
});

it("says both calls in the description where the real API differs, and that rules are ending", () => {
  const description = (name: string) => t.idp.describeTools().find(({ id }) => id === name)?.description ?? "";
  expect(description("idp_client_rotate_secret")).toMatch(
    /POST \/clients\/\{id\}\/rotate;.*POST \/clients\/\{id\}\/rotate-secret/,
  );
  expect(description("idp_email_templates_list")).toMatch(
    /GET \/email-templates,.*GET \/email-templates\/\{templateName\}/,
  );
  expect(description("idp_action_deploy")).toMatch(/binds the action to a flow.*only publishes a version/);
  expect(description("idp_rule_get")).toMatch(/^Reads one legacy rule\. Deprecated/);
  for (const action of actions) {
    const { path } = action.upstream ?? action;
    expect(description(action.name).includes(`called as ${action.upstream?.method} ${path}`)).toBe(
      path !== action.path && !action.upstream?.emulated,
    );
  }
});
