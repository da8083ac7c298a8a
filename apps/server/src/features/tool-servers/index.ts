export type { ToolList } from "../../engines/tools/tools.ts";
export type { ServerToolCall, ServerToolOutcome } from "./call-tool.ts";
export type { DescribedTools, MissingTool, ModelTool, ServerBinding } from "./describe-tools.ts";
export { type Hiding, hiding } from "./hide.rules.ts";
export type { AuthorizationAnswer, AuthorizationOutcome } from "./oauth/finish-authorization.ts";
export { openToolServers, type ToolServers, type ToolServersDeps } from "./open-tool-servers.ts";
export { isServerToolName } from "./tool-names.rules.ts";
export type { ToolServer } from "./tool-server.ts";
