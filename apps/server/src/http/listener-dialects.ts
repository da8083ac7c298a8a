import { agentErrorBody } from "./agents-api/agents-dialect.ts";
import type { ListenerDialect } from "./foundation/front-listener.ts";
import { rpcError } from "./mcp/rpc-error.ts";

/** How the frontListener words errors that it answers itself, by the first part of the address. */
export const listenerDialects: Readonly<Record<string, ListenerDialect>> = {
  "/v1": (failure) => agentErrorBody(failure).body,
  "/mcp": ({ issues: [{ msg }] }) => rpcError(-32_000, msg),
};
