export type { ToolInfo } from "./describe-action.rules.ts";
export { maskCall } from "./mask.rules.ts";
export { type IdpConnector, type IdpDeps, type ListedAction, openIdpConnector } from "./open-idp-connector.ts";
export type { WritePreview } from "./preview-write.ts";
export type { ActionOutcome } from "./run-action.ts";
export type { Connector } from "./stored-connector.ts";
