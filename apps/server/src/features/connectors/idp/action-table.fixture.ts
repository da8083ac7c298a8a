export interface ActionCase {
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
export const actionCases: Readonly<Record<string, ActionCase>> = {
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
