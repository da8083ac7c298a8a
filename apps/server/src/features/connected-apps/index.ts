export type { AuthorizationRequest } from "./authorization-request.ts";
export { OAuthRefusal, refusal } from "./oauth-refusal.ts";
export { type ConnectedApps, openConnectedApps } from "./open-connected-apps.ts";
export { hostOf, kindOf } from "./redirect-uri.rules.ts";
export { deleteOldConnections, deleteUnusedClients, revokeLapsedConnections } from "./store.ts";
export { mcpScope } from "./tokens.ts";
