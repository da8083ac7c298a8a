import { Fault, fault } from "../../kernel/errors.ts";
import type { McpToolsContext } from "./context.ts";
import type { ToolAnswer, ToolCall } from "./offered-tool.ts";
import { refusal } from "./refusal.rules.ts";

/** What went wrong as an answer; what is our fault, or a backend's, is logged too. */
export function tellFailure(
  { log }: Pick<McpToolsContext, "log">,
  { requestId, name }: Pick<ToolCall, "requestId" | "name">,
  error: unknown,
): ToolAnswer {
  const known =
    error instanceof Fault ? error : fault("internal_server_error", "Internal server error", { cause: error });
  if (known.status >= 500) log.error({ request_id: requestId, tool: name, err: known.cause ?? known }, known.message);
  return refusal(known);
}
