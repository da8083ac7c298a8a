import { agentErrorBody } from "./agents-api/agents-dialect.ts";
import type { ListenerDialect } from "./foundation/front-listener.ts";
import { rpcError } from "./mcp/rpc-error.ts";

/** Formats of the errors that the front listener answers itself, by the first path segment. */
export const listenerDialects: Readonly<Record<string, ListenerDialect>> = {
  "/v1": (failure) => agentErrorBody(failure).body,
  "/mcp": ({ issues: [{ msg }] }) => rpcError(-32_000, msg),
};
