import type { AgentSnapshot, AgentWarning } from "@gantry/wire";
import type { Issue } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import { checkSnapshot } from "./check-snapshot.ts";
import type { AgentsContext } from "./context.ts";

/**
 * What looks like a mistake in contents that stand, at this moment: what they name may have come and gone since they were
 * saved. They are looked at as their owner's, whatever the key at hand reaches.
 */
export async function presentWarnings(
  context: AgentsContext,
  owner: Caller,
  { agentId, snapshot }: { agentId: string; snapshot: AgentSnapshot },
): Promise<AgentWarning[]> {
  const { issues, warnings } = await checkSnapshot(context, { ...owner, models: null }, { agentId, fields: snapshot });
  return [...warnings, ...issues.map(asWarning)];
}

/** Of what stands already: it is told, and refuses nothing. */
export function asWarning({ loc, msg }: Issue): AgentWarning {
  return { field: String(loc[1]), message: msg };
}
