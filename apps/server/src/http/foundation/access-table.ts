import { doorOperations, type Route } from "@gantry/wire/operations";
import { type Caller, isConfined } from "../../features/accounts/index.ts";
import { type Fault, fault } from "../../kernel/errors.ts";

/**
 * Who may call a route. Three kinds of key have less than their owner:
 *
 * - confined: limited to some models. An application has it. It sees what it started, and agents as cards.
 * - limited: with a monthly limit. It must not change what its calls cost.
 * - grace: a secret that a rotation has replaced, or a session opened with it. It finishes its work and manages nothing.
 */
export interface Access {
  /** `operator`: settings can open the route, which checks them itself; otherwise as `admin`. */
  by: "anyone" | "key" | "admin" | "operator";
  /** `own`: only what this key started. `card`: agents as the marketplace shows them. */
  confined: "allow" | "own" | "card" | "refuse";
  limited: "allow" | "refuse";
  grace: "allow" | "refuse";
  /** Completes the refusal: "This key … cannot use drives." */
  doing: string;
}

const allowed = { confined: "allow", limited: "allow", grace: "allow", doing: "do this" } as const;
const refused = { confined: "refuse", limited: "refuse", grace: "refuse" } as const;

const open: Access = { by: "anyone", ...allowed };
const everyKey: Access = { by: "key", ...allowed };
const own: Access = { ...everyKey, confined: "own" };
const asCard: Access = { ...everyKey, confined: "card" };
/** Uses what the owner has set up, which a replaced secret may finish. */
const ownersWork = (doing: string): Access => ({ ...everyKey, confined: "refuse", doing });
/** Changes what the owner has set up. */
const managing = (doing: string): Access => ({ ...everyKey, confined: "refuse", grace: "refuse", doing });
/** Changes what a key may do or what its calls cost. */
const unlimitedKeys = (doing: string): Access => ({ by: "key", ...refused, doing });
const ownKey: Access = { ...own, grace: "refuse", doing: "manage keys" };
const admins: Access = { by: "admin", ...refused, doing: "use admin routes" };

type OperationRoute = Exclude<Route, `HEAD ${string}`>;

/** HEAD has the access of GET. */
const ofOperations: Readonly<Record<OperationRoute, Access>> = {
  "GET /api/v1": everyKey,
  "GET /api/v1/{owner}/{model}": asCard,
  "PUT /api/v1/{owner}/{model}": unlimitedKeys("manage models"),
  "PATCH /api/v1/{owner}/{model}": unlimitedKeys("manage models"),
  "DELETE /api/v1/{owner}/{model}": unlimitedKeys("manage models"),
  "POST /api/v1/{owner}/{model}/restore": unlimitedKeys("manage models"),
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
  "GET /api/v2/usage": own,
  "GET /api/v2/{username}/expenses": own,
  "GET /api/v2/ledger": ownersWork("read the ledger"),
  "GET /api/v2/files": own,
  "DELETE /api/v2/files/{id}": own,
  "GET /api/v2/webhooks/deliveries": own,
  "POST /api/v2/webhooks/deliveries/{id}/resend": own,
  "GET /api/v2/webhooks/secret": managing("read or rotate webhook secrets"),
  "POST /api/v2/webhooks/secret/rotate": managing("read or rotate webhook secrets"),
  "GET /api/v2/keys": ownKey,
  "POST /api/v2/keys": unlimitedKeys("create keys"),
  "DELETE /api/v2/keys/{id}": ownKey,
  "POST /api/v2/keys/{id}/rotate": ownKey,
  "GET /api/v2/aliases": ownersWork("list aliases"),
  "PUT /api/v2/aliases/{name}": managing("manage aliases"),
  "DELETE /api/v2/aliases/{name}": managing("manage aliases"),
  "GET /api/v2/providers": unlimitedKeys("manage providers"),
  "GET /api/v2/providers/{name}": unlimitedKeys("manage providers"),
  "PUT /api/v2/providers/{name}": unlimitedKeys("manage providers"),
  "DELETE /api/v2/providers/{name}": unlimitedKeys("manage providers"),
  "POST /api/v2/providers/{name}/test": unlimitedKeys("manage providers"),
  "POST /api/v2/providers/{name}/discover": unlimitedKeys("manage providers"),
  "POST /api/v2/providers/{name}/import": unlimitedKeys("manage providers"),
  "POST /api/v2/sign-in-links": unlimitedKeys("create sign-in links"),
  "GET /api/v2/secrets": unlimitedKeys("manage secrets"),
  "PUT /api/v2/secrets/{name}": unlimitedKeys("manage secrets"),
  "DELETE /api/v2/secrets/{name}": unlimitedKeys("manage secrets"),
  "GET /api/v2/admin/users": admins,
  "POST /api/v2/admin/users": admins,
  "PATCH /api/v2/admin/users/{username}": admins,
  "POST /api/v2/admin/users/{username}/keys": admins,
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
  "GET /api/v2/admin/take-downs": admins,
  "POST /api/v2/admin/agents/{id}/take-down": admins,
  "POST /api/v2/admin/agents/{id}/restore": admins,
  "POST /api/v2/admin/models/{owner}/{name}/take-down": admins,
  "POST /api/v2/admin/models/{owner}/{name}/restore": admins,

  "GET /v1/tools": everyKey,
  "GET /v1/marketplace/agents": everyKey,
  "GET /v1/agents": asCard,
  "GET /v1/agents/{agent_id}": asCard,
  "POST /v1/agents": managing("manage agents"),
  "PATCH /v1/agents/{agent_id}": managing("manage agents"),
  "DELETE /v1/agents/{agent_id}": managing("manage agents"),
  "POST /v1/agents/{agent_id}/publish": managing("manage agents"),
  "GET /v1/agents/{agent_id}/revisions": ownersWork("manage agents"),
  "GET /v1/agents/{agent_id}/revisions/{revision_id}": ownersWork("manage agents"),
  "GET /v1/agents/{agent_id}/revisions/{revision_id}/diff": ownersWork("manage agents"),
  "POST /v1/agents/{agent_id}/runs": asCard,
  "POST /v1/agents/{creator_username}/{agent_slug}/runs": asCard,
  "GET /v1/agents/{agent_id}/runs": own,
  "GET /v1/runs": own,
  "GET /v1/runs/{run_id}": own,
  "POST /v1/runs/{run_id}/cancel": own,
  "GET /v1/runs/{run_id}/events": own,
  "GET /v1/runs/{run_id}/events/list": own,
  "GET /v1/runs/{run_id}/confirmations": own,
  "POST /v1/runs/{run_id}/confirmations/{confirmation_id}": own,
  // Only the connector creates such secrets.
  "GET /v1/runs/{run_id}/secrets/{secret_id}": ownersWork("use the connector"),
  "POST /v1/drives": managing("create or delete drives"),
  "GET /v1/drives": ownersWork("use drives"),
  "GET /v1/drives/{drive_id}": ownersWork("use drives"),
  "DELETE /v1/drives/{drive_id}": managing("create or delete drives"),
  "GET /v1/drives/{drive_id}/items": ownersWork("use drives"),
  "POST /v1/drives/{drive_id}/files": ownersWork("use drives"),
  "GET /v1/drives/{drive_id}/files/{path}": ownersWork("use drives"),
  "PUT /v1/drives/{drive_id}/files/{path}": ownersWork("use drives"),
  "DELETE /v1/drives/{drive_id}/files/{path}": ownersWork("use drives"),
  "DELETE /v1/drives/{drive_id}/tree/{path}": ownersWork("use drives"),
  "POST /v1/mcp-servers": managing("manage tool servers"),
  "GET /v1/mcp-servers": ownersWork("use tool servers"),
  "GET /v1/mcp-servers/{mcp_server_id}": ownersWork("use tool servers"),
  "PATCH /v1/mcp-servers/{mcp_server_id}": managing("manage tool servers"),
  "DELETE /v1/mcp-servers/{mcp_server_id}": managing("manage tool servers"),
  "GET /v1/mcp-servers/{mcp_server_id}/tools": ownersWork("use tool servers"),
  "PUT /v1/connectors/idp": managing("manage the connector"),
  "GET /v1/connectors/idp": ownersWork("use the connector"),
  "DELETE /v1/connectors/idp": managing("manage the connector"),
  "GET /v1/connectors/idp/actions": ownersWork("use the connector"),
  "POST /v1/connectors/idp/actions/{name}": ownersWork("use the connector"),

  "POST /v1/chat/completions": everyKey,
  "POST /v1/responses": everyKey,
  "GET /v1/responses/{response_id}": own,
  "DELETE /v1/responses/{response_id}": own,
  "POST /v1/responses/{response_id}/cancel": own,
  "GET /v1/responses/{response_id}/input_items": own,
  "POST /v1/embeddings": everyKey,
  "POST /v1/images/generations": everyKey,
  "POST /v1/images/edits": everyKey,
  "GET /v1/models": everyKey,
  "GET /v1/models/{path}": everyKey,
  "POST /v1/messages": everyKey,
  "POST /v1/messages/count_tokens": everyKey,
};

const ofOtherRoutes: Readonly<Record<string, Access>> = {
  "GET /": open,
  "GET /docs/errors": open,
  "GET /docs/manifest.schema.json": open,
  "GET /console": open,
  "GET /console/*": open,
  "POST /console/api/session": open,
  "GET /console/api/session": everyKey,
  "DELETE /console/api/session": open,
  // The signature in the link is the permission.
  "GET /s3/*": open,
  "PUT /s3/*": open,
  "OPTIONS /s3/*": open,
  "GET /metrics": { ...admins, by: "operator" },
  "GET /api/v1/openapi.json": everyKey,
  "POST /mcp": everyKey,
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
  if (access.grace === "refuse" && caller.graceEndsAt !== null) {
    throw refusal("This secret was replaced by a rotation and", access, "Use the new secret.");
  }
  if (access.confined === "refuse" && isConfined(caller)) {
    throw refusal("This key is limited to some models and", access, "Use a key without a list of models.");
  }
  if (access.limited === "refuse" && caller.monthlyLimitMicros !== null) {
    throw refusal("This key has a monthly limit and", access, "Use a key without a limit.");
  }
}

function refusal(who: string, { doing }: Access, advice: string): Fault {
  return fault("forbidden", `${who} cannot ${doing}. ${advice}`);
}
