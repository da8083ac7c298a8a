/** The port of model providers: what features see. */
export { normalizeUrl, readAddress } from "./address.rules.ts";
export { backendFor, type ProviderSettings } from "./backend-for.ts";
export { chooseChatModel } from "./choose-chat-model.ts";
export type { ProviderConnection } from "./connection.ts";
export { discoverModels } from "./discover-models.ts";
export { findLocal, type LocalPort, type LocalServer, type LocalType, usualPorts } from "./find-local.ts";
export { ProviderFailure } from "./provider-failure.ts";
export { type ProviderTestResult, testProvider } from "./test-provider.ts";
