import type { AgentSnapshot } from "@gantry/wire";
import { type Caller, keyReaches } from "../accounts/index.ts";
import { bindingId, isConnectorAction } from "./binding.rules.ts";
import { secretsNamedBy } from "./fixed-request.rules.ts";

/**
 * Why a confined key may not manage an agent of these contents, as far as they show it themselves. Whoever writes what an
 * agent does has all that the agent has; to run one, as its creator made it, is another thing.
 */
export function beyondReach(
  caller: Caller,
  { model, tools = [], drives = [], mcp_servers = [] }: Partial<AgentSnapshot>,
): string | undefined {
  if (drives.length > 0) return "that use drives";
  if (mcp_servers.length > 0) return "that use tool servers";
  if (tools.map(bindingId).some(isConnectorAction)) return "that use the connector";
  if (secretsNamedBy(tools).length > 0) return "that use stored secrets";
  if (model !== undefined && !keyReaches(caller, model)) return "on models that it does not reach";
  return undefined;
}
