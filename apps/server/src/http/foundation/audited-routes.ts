import type { AuditAction } from "@gantry/wire";
import type { Route } from "@gantry/wire/operations";

/** The actions that a route records, or why it records none. */
export type Audited = readonly AuditAction[] | string;

const use = "Predictions, runs and usage have records of their own.";
const content = "Changes content, not access, money or settings.";
const readsOnly = "Changes nothing that stays.";

type ChangingRoute = Exclude<Route, `GET ${string}` | `HEAD ${string}`>;

const ofOperations: Readonly<Record<ChangingRoute, Audited>> = {
  "PUT /api/v1/{owner}/{model}": ["model.put"],
  "PATCH /api/v1/{owner}/{model}": ["model.update"],
  "DELETE /api/v1/{owner}/{model}": ["model.delete"],
  "POST /api/v1/{owner}/{model}/restore": ["model.restore"],
  "POST /api/v1/{owner}/{model}/predict": use,
  "POST /api/v1/{owner}/{model}/predict/stream/": use,
  "POST /api/v1/{owner}/{model}/predict/async/": use,
  "POST /api/v1/{owner}/{model}/predict/async/result/": readsOnly,
  "POST /api/v1/{owner}/{model}/predict/cancel/": use,
  "PATCH /api/v1/{owner}/{model}/predict/cancel/": use,
  "POST /api/v1/{owner}/{model}/upload_file": content,

  "DELETE /api/v2/predictions/{id}": content,
  "DELETE /api/v2/files/{id}": content,
  "POST /api/v2/webhooks/deliveries/{id}/resend": use,
  "POST /api/v2/webhooks/test": use,
  "POST /api/v2/webhooks/secret/rotate": ["webhook_secret.rotate"],
  "DELETE /api/v2/notices/{id}": "Hides a notice from one person.",
  "PUT /api/v2/notices/settings": ["notice_settings.put"],
  "POST /api/v2/keys": ["key.create"],
  "PATCH /api/v2/keys/{id}": ["key.update"],
  "DELETE /api/v2/keys/{id}": ["key.revoke"],
  "POST /api/v2/keys/{id}/rotate": ["key.rotate"],
  "POST /api/v2/teams": ["team.create"],
  "DELETE /api/v2/teams/{team}": ["team.close"],
  "POST /api/v2/teams/{team}/members": ["member.add"],
  "PATCH /api/v2/teams/{team}/members/{username}": ["member.update"],
  "DELETE /api/v2/teams/{team}/members/{username}": ["member.remove"],
  "PUT /api/v2/aliases/{name}": ["alias.put"],
  "DELETE /api/v2/aliases/{name}": ["alias.delete"],
  "PUT /api/v2/providers/{name}": ["provider.put"],
  "DELETE /api/v2/providers/{name}": ["provider.delete"],
  "POST /api/v2/providers/{name}/test": readsOnly,
  "POST /api/v2/providers/{name}/discover": readsOnly,
  "POST /api/v2/providers/{name}/import": ["model.import"],
  "POST /api/v2/sign-in-links": ["sign_in_link.create"],
  "DELETE /api/v2/sessions": ["session.end"],
  "DELETE /api/v2/sessions/{id}": ["session.end"],
  "DELETE /api/v2/me": ["user.delete", "member.remove"],
  "PUT /api/v2/me/password": ["user.change_password"],
  "DELETE /api/v2/admin/users/{username}/sessions": ["session.end"],
  "DELETE /api/v2/admin/users/{username}/sessions/{id}": ["session.end"],
  "POST /api/v2/admin/users/{username}/password-reset": ["user.create_reset_link"],
  "DELETE /api/v2/admin/users/{username}/identity": ["user.unlink"],
  "PUT /api/v2/secrets/{name}": ["secret.put"],
  "DELETE /api/v2/secrets/{name}": ["secret.delete"],
  "POST /api/v2/admin/users": ["user.create"],
  "PATCH /api/v2/admin/users/{username}": ["user.update"],
  "DELETE /api/v2/admin/users/{username}": ["user.delete", "member.remove"],
  "POST /api/v2/admin/users/{username}/keys": ["key.create"],
  "PATCH /api/v2/admin/users/{username}/keys/{id}": ["key.update"],
  "DELETE /api/v2/admin/users/{username}/keys/{id}": ["key.revoke"],
  "POST /api/v2/admin/users/{username}/credits": ["credit.add"],
  "PUT /api/v2/admin/plans/{name}": ["plan.put"],
  "DELETE /api/v2/admin/plans/{name}": ["plan.delete"],
  "PUT /api/v2/admin/aliases/{name}": ["alias.put"],
  "DELETE /api/v2/admin/aliases/{name}": ["alias.delete"],
  "PUT /api/v2/admin/providers/{name}": ["provider.put"],
  "DELETE /api/v2/admin/providers/{name}": ["provider.delete"],
  "POST /api/v2/admin/providers/{name}/test": readsOnly,
  "POST /api/v2/admin/providers/{name}/discover": readsOnly,
  "POST /api/v2/admin/providers/{name}/import": ["model.import"],
  "PUT /api/v2/admin/secrets/{name}": ["secret.put"],
  "DELETE /api/v2/admin/secrets/{name}": ["secret.delete"],
  "POST /api/v2/admin/agents/{id}/take-down": ["agent.take_down"],
  "POST /api/v2/admin/agents/{id}/restore": ["agent.reinstate"],
  "POST /api/v2/admin/models/{owner}/{name}/take-down": ["model.take_down"],
  "POST /api/v2/admin/models/{owner}/{name}/restore": ["model.reinstate"],

  "POST /v1/agents": ["agent.create"],
  "PATCH /v1/agents/{agent_id}": ["agent.update"],
  "DELETE /v1/agents/{agent_id}": ["agent.delete"],
  "POST /v1/agents/{agent_id}/publish": ["agent.publish"],
  "POST /v1/agents/{agent_id}/runs": use,
  "POST /v1/agents/{creator_username}/{agent_slug}/runs": use,
  "POST /v1/agents/{agent_id}/schedules": ["schedule.create"],
  "PATCH /v1/schedules/{schedule_id}": ["schedule.update"],
  "DELETE /v1/schedules/{schedule_id}": ["schedule.delete"],
  "POST /v1/schedules/{schedule_id}/run": use,
  "POST /v1/runs/{run_id}/cancel": use,
  "POST /v1/runs/{run_id}/confirmations/{confirmation_id}": ["confirmation.approve", "confirmation.deny"],
  "DELETE /v1/threads/{thread_id}": content,
  "POST /v1/drives": ["drive.create"],
  "PATCH /v1/drives/{drive_id}": ["drive.update"],
  "DELETE /v1/drives/{drive_id}": ["drive.delete"],
  "POST /v1/drives/{drive_id}/files": content,
  "PUT /v1/drives/{drive_id}/files/{path}": content,
  "DELETE /v1/drives/{drive_id}/files/{path}": content,
  "DELETE /v1/drives/{drive_id}/tree/{path}": content,
  "POST /v1/drives/{drive_id}/index/rebuild": content,
  "POST /v1/agents/{agent_id}/triggers": ["trigger.create"],
  "PATCH /v1/triggers/{trigger_id}": ["trigger.update"],
  "DELETE /v1/triggers/{trigger_id}": ["trigger.delete"],
  "POST /v1/triggers/{trigger_id}/rotate": ["trigger.rotate"],
  "POST /v1/mcp-servers": ["tool_server.create"],
  "PATCH /v1/mcp-servers/{mcp_server_id}": ["tool_server.update"],
  "DELETE /v1/mcp-servers/{mcp_server_id}": ["tool_server.delete"],
  "POST /v1/mcp-servers/{mcp_server_id}/authorize": "The link is recorded once it is used.",
  "DELETE /v1/mcp-servers/{mcp_server_id}/authorization": ["tool_server.forget"],
  "PUT /v1/connectors/idp": ["connector.put"],
  "DELETE /v1/connectors/idp": ["connector.delete"],
  "POST /v1/connectors/idp/actions/{name}": "The tenant has a log of its own.",

  "POST /v1/chat/completions": use,
  "POST /v1/responses": use,
  "DELETE /v1/responses/{response_id}": content,
  "POST /v1/responses/{response_id}/cancel": use,
  "POST /v1/files": content,
  "DELETE /v1/files/{file_id}": content,
  "POST /v1/batches": use,
  "POST /v1/batches/{batch_id}/cancel": use,
  "POST /v1/embeddings": use,
  "POST /v1/images/generations": use,
  "POST /v1/images/edits": use,
  "POST /v1/messages": use,
  "POST /v1/messages/count_tokens": readsOnly,
};

const ofOtherRoutes: Readonly<Record<string, Audited>> = {
  // Change nothing, but all data leaves the server.
  "GET /api/v2/export": ["user.export"],
  "GET /api/v2/admin/users/{username}/export": ["user.export"],
  "POST /console/api/session": ["session.open", "session.refuse"],
  "DELETE /console/api/session": ["session.close"],
  "POST /console/api/authorization": ["key.create"],
  // A code or refresh token that is used twice ends the key of a connected app.
  "POST /oauth/token": ["key.revoke"],
  "POST /oauth/revoke": ["key.revoke"],
  "POST /oauth/register": "An app can do nothing until a user connects it, which is recorded.",
  "POST /console/api/password-reset": ["user.reset_password", "session.open", "session.refuse"],
  // The browser returns here from the OpenID provider.
  "GET /console/api/oidc/callback": ["session.open", "user.create", "user.update", "user.link", "session.refuse"],
  // The button that a person presses after authorizing.
  "POST /hooks/oauth/callback": ["tool_server.authorize"],
  "PUT /s3/*": content,
  "POST /hooks/{trigger_id}/{secret}": use,
  "POST /mcp": use,
  "ALL /{username}/expenses/{id}": readsOnly,
  "ALL /api/v2/{username}/expenses/{id}": readsOnly,
  "DELETE /v1/drives/{drive_id}/tree": content,
};

/** One row for each route that can change something. */
export const auditedRoutes: Readonly<Record<string, Audited>> = { ...ofOtherRoutes, ...ofOperations };

/** Whether handlers of the row write audit records. */
export function isAudited(row: string): boolean {
  return Array.isArray(auditedRoutes[row]);
}
