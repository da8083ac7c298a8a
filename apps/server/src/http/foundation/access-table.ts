import { doorOperations, type Route } from "@gantry/wire/operations";
import { type Caller, isConfined, isLimited, manages, type Resource } from "../../features/accounts/index.ts";
import { type Fault, fault } from "../../kernel/errors.ts";

/**
 * Who may call a route. Three kinds of key have less than their owner:
 *
 * - confined: limited to some models. An application has it. It sees what it started, and agents as cards.
 * - limited: with a budget or a limit of tokens, of its own or of its parent. It must not change what its calls cost.
 * - grace: a secret that a rotation has replaced, or a session opened with it. It finishes its work and manages nothing.
 */
export interface Access {
  /** `operator`: settings can open the route, which checks them itself; otherwise as `admin`. */
  by: "anyone" | "key" | "admin" | "operator";
  /** `own`: only what this key started. `card`: agents as the marketplace shows them. */
  confined: "allow" | "own" | "card" | "refuse";
  limited: "allow" | "refuse";
  grace: "allow" | "refuse";
  /**
   * For who acts for a team. `use`: every member. `manage`: only its admins and owners. `refuse`: no member, because the
   * route is about a person.
   */
  team: "use" | "manage" | "refuse";
  /** Access tokens for this resource work here. Elsewhere they do not. */
  resource?: Resource;
  /** Completes the refusal: "This key … cannot use drives." */
  doing: string;
}

const allowed = { confined: "allow", limited: "allow", grace: "allow", team: "use", doing: "do this" } as const;
const refused = { confined: "refuse", limited: "refuse", grace: "refuse" } as const;

const open: Access = { by: "anyone", ...allowed };
const everyKey: Access = { by: "key", ...allowed };
const own: Access = { ...everyKey, confined: "own" };
const asCard: Access = { ...everyKey, confined: "card" };
/** Uses what the owner has set up, which a replaced secret may finish. */
const ownersWork = (doing: string): Access => ({ ...everyKey, confined: "refuse", doing });
/** Changes what the owner has set up. */
const managing = (doing: string, team: Access["team"]): Access => ({
  ...everyKey,
  confined: "refuse",
  grace: "refuse",
  team,
  doing,
});
/** Changes what a key may do or what its calls cost. */
const unlimitedKeys = (doing: string, team: Access["team"]): Access => ({ by: "key", ...refused, team, doing });
const ownKey: Access = { ...own, grace: "refuse", doing: "manage keys" };
/** A replaced secret must not start work that outlives its grace. */
const ownSchedule: Access = { ...own, grace: "refuse", doing: "manage schedules" };
const ownBatch: Access = { ...own, grace: "refuse", doing: "create batches" };
/** While it acts for a team, a member is not an admin of the service. */
const admins: Access = { by: "admin", ...refused, team: "refuse", doing: "use admin routes" };

type OperationRoute = Exclude<Route, `HEAD ${string}`>;

/** HEAD has the access of GET. */
const ofOperations: Readonly<Record<OperationRoute, Access>> = {
  "GET /api/v1": everyKey,
  "GET /api/v1/{owner}/{model}": asCard,
  "PUT /api/v1/{owner}/{model}": unlimitedKeys("manage models", "manage"),
  "PATCH /api/v1/{owner}/{model}": unlimitedKeys("manage models", "manage"),
  "DELETE /api/v1/{owner}/{model}": unlimitedKeys("manage models", "manage"),
  "POST /api/v1/{owner}/{model}/restore": unlimitedKeys("manage models", "manage"),
  "GET /api/v1/{owner}/{model}/backends": ownersWork("read the backends of models"),
  "GET /api/v1/{owner}/{model}/openapi.json": everyKey,
  "GET /api/v1/{owner}/{model}/flow": everyKey,
  "POST /api/v1/{owner}/{model}/predict": everyKey,
  "POST /api/v1/{owner}/{model}/predict/stream/": everyKey,
  "POST /api/v1/{owner}/{model}/predict/async/": everyKey,
  "GET /api/v1/{owner}/{model}/predict/async/result/": own,
  "POST /api/v1/{owner}/{model}/predict/async/result/": own,
  "POST /api/v1/{owner}/{model}/predict/cancel/": own,
  "PATCH /api/v1/{owner}/{model}/predict/cancel/": own,
  "GET /api/v1/{owner}/{model}/upload_url": everyKey,
  "POST /api/v1/{owner}/{model}/upload_file": everyKey,
  "GET /api/v1/{owner}/{model}/download_s3_url": own,

  "GET /api/v2/me": everyKey,
  "DELETE /api/v2/me": unlimitedKeys("delete the account", "refuse"),
  "GET /api/v2/export": unlimitedKeys("export data", "manage"),
  "GET /api/v2/usage": own,
  "GET /api/v2/predictions": own,
  "GET /api/v2/predictions/{id}": own,
  "DELETE /api/v2/predictions/{id}": own,
  "GET /api/v2/{username}/expenses": own,
  "GET /api/v2/series": own,
  "GET /api/v2/ledger": { ...ownersWork("read the ledger"), team: "manage" },
  "GET /api/v2/audit": { ...ownersWork("read the audit log"), team: "manage" },
  "GET /api/v2/files": own,
  "DELETE /api/v2/files/{id}": own,
  "GET /api/v2/webhooks/deliveries": own,
  "POST /api/v2/webhooks/deliveries/{id}/resend": own,
  "GET /api/v2/webhooks/deliveries/{id}": own,
  "POST /api/v2/webhooks/test": managing("send test events", "use"),
  "GET /api/v2/webhooks/secret": managing("read or rotate webhook secrets", "manage"),
  "POST /api/v2/webhooks/secret/rotate": managing("read or rotate webhook secrets", "manage"),
  // Plain members of a team see those of their own budget and keys.
  "GET /api/v2/notices": ownersWork("read notices"),
  "DELETE /api/v2/notices/{id}": managing("dismiss notices", "use"),
  "GET /api/v2/notices/settings": { ...ownersWork("read settings of notices"), team: "manage" },
  // A key with a budget could hide from its owner that the budget is spent.
  "PUT /api/v2/notices/settings": unlimitedKeys("change settings of notices", "manage"),
  "GET /api/v2/keys": ownKey,
  "POST /api/v2/keys": unlimitedKeys("create keys", "use"),
  "PATCH /api/v2/keys/{id}": unlimitedKeys("change keys", "use"),
  "DELETE /api/v2/keys/{id}": ownKey,
  "POST /api/v2/keys/{id}/rotate": ownKey,
  "GET /api/v2/teams": unlimitedKeys("list teams", "refuse"),
  "POST /api/v2/teams": unlimitedKeys("create teams", "refuse"),
  // The feature checks the role, because a member also names a team without acting for it.
  "GET /api/v2/teams/{team}": unlimitedKeys("read teams", "use"),
  "DELETE /api/v2/teams/{team}": unlimitedKeys("close teams", "use"),
  "GET /api/v2/teams/{team}/members": unlimitedKeys("read teams", "use"),
  "POST /api/v2/teams/{team}/members": unlimitedKeys("manage members", "use"),
  "GET /api/v2/teams/{team}/members/{username}": unlimitedKeys("read teams", "use"),
  "PATCH /api/v2/teams/{team}/members/{username}": unlimitedKeys("manage members", "use"),
  "DELETE /api/v2/teams/{team}/members/{username}": unlimitedKeys("manage members", "use"),
  "GET /api/v2/teams/{team}/usage": unlimitedKeys("read teams", "use"),
  "GET /api/v2/aliases": ownersWork("list aliases"),
  "PUT /api/v2/aliases/{name}": managing("manage aliases", "manage"),
  "DELETE /api/v2/aliases/{name}": managing("manage aliases", "manage"),
  "GET /api/v2/providers": unlimitedKeys("manage providers", "manage"),
  "GET /api/v2/providers/{name}": unlimitedKeys("manage providers", "manage"),
  "PUT /api/v2/providers/{name}": unlimitedKeys("manage providers", "manage"),
  "DELETE /api/v2/providers/{name}": unlimitedKeys("manage providers", "manage"),
  "POST /api/v2/providers/{name}/test": unlimitedKeys("manage providers", "manage"),
  "POST /api/v2/providers/{name}/discover": unlimitedKeys("manage providers", "manage"),
  "POST /api/v2/providers/{name}/import": unlimitedKeys("manage providers", "manage"),
  "POST /api/v2/sign-in-links": unlimitedKeys("create sign-in links", "refuse"),
  "GET /api/v2/sessions": unlimitedKeys("manage sessions", "refuse"),
  "DELETE /api/v2/sessions": unlimitedKeys("manage sessions", "refuse"),
  "DELETE /api/v2/sessions/{id}": unlimitedKeys("manage sessions", "refuse"),
  "PUT /api/v2/me/password": unlimitedKeys("change passwords", "refuse"),
  "GET /api/v2/secrets": unlimitedKeys("manage secrets", "manage"),
  "PUT /api/v2/secrets/{name}": unlimitedKeys("manage secrets", "manage"),
  "DELETE /api/v2/secrets/{name}": unlimitedKeys("manage secrets", "manage"),
  "GET /api/v2/admin/users": admins,
  "POST /api/v2/admin/users": admins,
  "PATCH /api/v2/admin/users/{username}": admins,
  "DELETE /api/v2/admin/users/{username}": admins,
  "GET /api/v2/admin/users/{username}": admins,
  "GET /api/v2/admin/users/{username}/export": admins,
  "GET /api/v2/admin/users/{username}/keys": admins,
  "POST /api/v2/admin/users/{username}/keys": admins,
  "PATCH /api/v2/admin/users/{username}/keys/{id}": admins,
  "DELETE /api/v2/admin/users/{username}/keys/{id}": admins,
  "GET /api/v2/admin/users/{username}/sessions": admins,
  "DELETE /api/v2/admin/users/{username}/sessions": admins,
  "DELETE /api/v2/admin/users/{username}/sessions/{id}": admins,
  "POST /api/v2/admin/users/{username}/password-reset": admins,
  "DELETE /api/v2/admin/users/{username}/identity": admins,
  "POST /api/v2/admin/users/{username}/credits": admins,
  "GET /api/v2/admin/users/{username}/ledger": admins,
  "GET /api/v2/admin/plans": admins,
  "PUT /api/v2/admin/plans/{name}": admins,
  "DELETE /api/v2/admin/plans/{name}": admins,
  "GET /api/v2/admin/aliases": admins,
  "PUT /api/v2/admin/aliases/{name}": admins,
  "DELETE /api/v2/admin/aliases/{name}": admins,
  "GET /api/v2/admin/providers": admins,
  "GET /api/v2/admin/providers/{name}": admins,
  "PUT /api/v2/admin/providers/{name}": admins,
  "DELETE /api/v2/admin/providers/{name}": admins,
  "POST /api/v2/admin/providers/{name}/test": admins,
  "POST /api/v2/admin/providers/{name}/discover": admins,
  "POST /api/v2/admin/providers/{name}/import": admins,
  "GET /api/v2/admin/secrets": admins,
  "PUT /api/v2/admin/secrets/{name}": admins,
  "DELETE /api/v2/admin/secrets/{name}": admins,
  "GET /api/v2/admin/ledger": admins,
  "GET /api/v2/admin/overview": admins,
  "GET /api/v2/admin/audit": admins,
  "GET /api/v2/admin/take-downs": admins,
  "POST /api/v2/admin/agents/{id}/take-down": admins,
  "POST /api/v2/admin/agents/{id}/restore": admins,
  "POST /api/v2/admin/models/{owner}/{name}/take-down": admins,
  "POST /api/v2/admin/models/{owner}/{name}/restore": admins,

  "GET /v1/tools": everyKey,
  "GET /v1/marketplace/agents": everyKey,
  "GET /v1/agents": asCard,
  "GET /v1/agents/{agent_id}": asCard,
  "POST /v1/agents": managing("manage agents", "use"),
  "PATCH /v1/agents/{agent_id}": managing("manage agents", "use"),
  "DELETE /v1/agents/{agent_id}": managing("manage agents", "use"),
  "POST /v1/agents/{agent_id}/publish": managing("manage agents", "use"),
  "GET /v1/agents/{agent_id}/revisions": ownersWork("manage agents"),
  "GET /v1/agents/{agent_id}/revisions/{revision_id}": ownersWork("manage agents"),
  "GET /v1/agents/{agent_id}/revisions/{revision_id}/diff": ownersWork("manage agents"),
  "GET /v1/agents/{agent_id}/authorizations": asCard,
  "POST /v1/agents/{agent_id}/runs": asCard,
  "POST /v1/agents/{creator_username}/{agent_slug}/runs": asCard,
  "GET /v1/agents/{agent_id}/runs": own,
  "POST /v1/agents/{agent_id}/schedules": ownSchedule,
  "GET /v1/agents/{agent_id}/schedules": own,
  "GET /v1/schedules": own,
  "GET /v1/schedules/{schedule_id}": own,
  "PATCH /v1/schedules/{schedule_id}": ownSchedule,
  "DELETE /v1/schedules/{schedule_id}": ownSchedule,
  "POST /v1/schedules/{schedule_id}/run": own,
  "GET /v1/runs": own,
  "GET /v1/runs/{run_id}": own,
  "POST /v1/runs/{run_id}/cancel": own,
  "GET /v1/runs/{run_id}/events": own,
  "GET /v1/runs/{run_id}/events/list": own,
  "GET /v1/runs/{run_id}/trace": own,
  "GET /v1/runs/{run_id}/trace/{step_id}": own,
  "GET /v1/confirmations": own,
  "GET /v1/runs/{run_id}/confirmations": own,
  "POST /v1/runs/{run_id}/confirmations/{confirmation_id}": own,
  // Only the connector creates such secrets.
  "GET /v1/runs/{run_id}/secrets/{secret_id}": ownersWork("use the connector"),
  "GET /v1/threads": own,
  "GET /v1/threads/{thread_id}": own,
  "DELETE /v1/threads/{thread_id}": own,
  "POST /v1/drives": managing("create or delete drives", "use"),
  "GET /v1/drives": ownersWork("use drives"),
  "GET /v1/drives/{drive_id}": ownersWork("use drives"),
  "PATCH /v1/drives/{drive_id}": managing("change drives", "use"),
  "DELETE /v1/drives/{drive_id}": managing("create or delete drives", "use"),
  "GET /v1/drives/{drive_id}/items": ownersWork("use drives"),
  "POST /v1/drives/{drive_id}/files": ownersWork("use drives"),
  "GET /v1/drives/{drive_id}/files/{path}": ownersWork("use drives"),
  "PUT /v1/drives/{drive_id}/files/{path}": ownersWork("use drives"),
  "DELETE /v1/drives/{drive_id}/files/{path}": ownersWork("use drives"),
  "DELETE /v1/drives/{drive_id}/tree/{path}": ownersWork("use drives"),
  "POST /v1/agents/{agent_id}/triggers": managing("manage triggers", "use"),
  "GET /v1/agents/{agent_id}/triggers": ownersWork("use triggers"),
  "GET /v1/triggers": ownersWork("use triggers"),
  "GET /v1/triggers/{trigger_id}": ownersWork("use triggers"),
  "PATCH /v1/triggers/{trigger_id}": managing("manage triggers", "use"),
  "DELETE /v1/triggers/{trigger_id}": managing("manage triggers", "use"),
  "POST /v1/triggers/{trigger_id}/rotate": managing("manage triggers", "use"),
  "GET /v1/triggers/{trigger_id}/deliveries": ownersWork("use triggers"),
  "GET /v1/drives/{drive_id}/index/files": ownersWork("use drives"),
  "POST /v1/drives/{drive_id}/index/rebuild": managing("change drives", "use"),
  "GET /v1/drives/{drive_id}/search": ownersWork("use drives"),
  "POST /v1/mcp-servers": managing("manage tool servers", "manage"),
  "GET /v1/mcp-servers": ownersWork("use tool servers"),
  "GET /v1/mcp-servers/{mcp_server_id}": ownersWork("use tool servers"),
  "PATCH /v1/mcp-servers/{mcp_server_id}": managing("manage tool servers", "manage"),
  "DELETE /v1/mcp-servers/{mcp_server_id}": managing("manage tool servers", "manage"),
  "GET /v1/mcp-servers/{mcp_server_id}/tools": ownersWork("use tool servers"),
  "POST /v1/mcp-servers/{mcp_server_id}/authorize": managing("authorize tool servers", "manage"),
  "DELETE /v1/mcp-servers/{mcp_server_id}/authorization": managing("authorize tool servers", "manage"),
  "PUT /v1/connectors/idp": managing("manage the connector", "manage"),
  "GET /v1/connectors/idp": ownersWork("use the connector"),
  "DELETE /v1/connectors/idp": managing("manage the connector", "manage"),
  "GET /v1/connectors/idp/actions": ownersWork("use the connector"),
  "POST /v1/connectors/idp/actions/{name}": { ...ownersWork("use the connector"), team: "manage" },

  "POST /v1/chat/completions": everyKey,
  "POST /v1/responses": everyKey,
  "GET /v1/responses/{response_id}": own,
  "DELETE /v1/responses/{response_id}": own,
  "POST /v1/responses/{response_id}/cancel": own,
  "GET /v1/responses/{response_id}/input_items": own,
  "POST /v1/embeddings": everyKey,
  "POST /v1/images/generations": everyKey,
  "POST /v1/images/edits": everyKey,
  "POST /v1/files": everyKey,
  "GET /v1/files": own,
  "GET /v1/files/{file_id}": own,
  "DELETE /v1/files/{file_id}": own,
  "GET /v1/files/{file_id}/content": own,
  "POST /v1/batches": ownBatch,
  "GET /v1/batches": own,
  "GET /v1/batches/{batch_id}": own,
  "POST /v1/batches/{batch_id}/cancel": own,
  "GET /v1/models": everyKey,
  "GET /v1/models/{path}": everyKey,
  "POST /v1/messages": everyKey,
  "POST /v1/messages/count_tokens": everyKey,
};

/** What apps call to connect. Pages of any origin may. */
const oauthAddresses = [
  "GET /.well-known/oauth-protected-resource",
  "GET /.well-known/oauth-protected-resource/mcp",
  "GET /.well-known/oauth-authorization-server",
  "POST /oauth/register",
  "POST /oauth/token",
  "POST /oauth/revoke",
];

const ofOtherRoutes: Readonly<Record<string, Access>> = {
  "GET /": open,
  "GET /docs/errors": open,
  // The state in the address is the permission.
  "GET /hooks/oauth/callback": open,
  "POST /hooks/oauth/callback": open,
  "GET /docs/manifest.schema.json": open,
  "GET /console": open,
  "GET /console/*": open,
  "POST /console/api/session": open,
  "GET /console/api/session": { ...everyKey, team: "refuse" },
  "DELETE /console/api/session": open,
  "GET /console/api/sign-in": open,
  // The token in the body is the permission.
  "POST /console/api/password-reset": open,
  "GET /console/api/oidc/start": open,
  // The state in the address and the cookie are the permission.
  "GET /console/api/oidc/callback": open,
  // The signature in the link is the permission.
  "GET /s3/*": open,
  "PUT /s3/*": open,
  "OPTIONS /s3/*": open,
  // The secret in the path is the permission.
  "POST /hooks/{trigger_id}/{secret}": open,
  "GET /metrics": { ...admins, by: "operator" },
  "GET /api/v1/openapi.json": everyKey,
  "POST /mcp": { ...everyKey, resource: "mcp" },
  "OPTIONS /mcp": open,
  ...Object.fromEntries(
    oauthAddresses.flatMap((row) => [row, row.replace(/^\w+/, "OPTIONS")]).map((row) => [row, open]),
  ),
  "GET /oauth/authorize": open,
  "GET /console/api/authorization": unlimitedKeys("connect apps", "refuse"),
  "POST /console/api/authorization": unlimitedKeys("connect apps", "refuse"),
  "GET /api/v2/openapi.json": everyKey,
  "GET /{username}/expenses": own,
  "ALL /{username}/expenses/{id}": everyKey,
  "ALL /api/v2/{username}/expenses/{id}": everyKey,
  "GET /v1/openapi.json": everyKey,
  "DELETE /v1/drives/{drive_id}/tree": ownersWork("use drives"),
  "GET /v1/doors/openapi.json": everyKey,
  ...Object.fromEntries(Object.values(doorOperations).map(({ base, path }) => [`OPTIONS ${base}${path}`, open])),
};

/** One row for each route: the server does not start if a row is missing. */
export const accessTable: Readonly<Record<string, Access>> = { ...ofOtherRoutes, ...ofOperations };

/** `route`: as `GET /v1/agents/{agent_id}`. */
export function accessOf(route: string): { row: string; access: Access } {
  const [method = "", path = ""] = route.split(" ");
  for (const one of [method, ...(method === "HEAD" ? ["GET"] : []), "ALL"]) {
    const row = `${one} ${path}`;
    const access = accessTable[row];
    if (access) return { row, access };
  }
  throw new Error(`${route} has no row in http/foundation/access-table.ts`);
}

/** Refuses keys as the row of the route says. Features implement `own` and `card`. */
export function refuseKey(access: Access, caller: Caller): void {
  if ((access.by === "admin" || access.by === "operator") && caller.role !== "admin")
    throw fault("forbidden", "Only an admin may do this");
  refuseMember(access, caller);
  if (access.grace === "refuse" && caller.graceEndsAt !== null) {
    throw refusal("This secret was replaced by a rotation and", access, "Use the new secret.");
  }
  if (access.confined === "refuse" && isConfined(caller)) {
    throw refusal("This key is limited to some models and", access, "Use a key without a list of models.");
  }
  if (access.limited === "refuse" && isLimited(caller)) {
    throw refusal("This key has a limit and", access, "Use a key without limits.");
  }
}

function refuseMember({ team, doing }: Access, caller: Caller): void {
  if (caller.team === null) return;
  if (team === "refuse") {
    throw fault("forbidden", `A team cannot ${doing}. Use your own key, without X-Gantry-Team.`);
  }
  if (team === "manage" && !manages(caller.team.role)) {
    throw fault("forbidden", `Only admins and owners of the team ${caller.username} may ${doing}.`);
  }
}

function refusal(who: string, { doing }: Access, advice: string): Fault {
  return fault("forbidden", `${who} cannot ${doing}. ${advice}`);
}
