import type { AgentWarning } from "@gantry/wire";
import type { Issue } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import type { Agent, Revision } from "./agent.ts";
import { selfContained } from "./check-snapshot.ts";
import { checkSurroundings } from "./check-surroundings.ts";
import type { AgentsContext } from "./context.ts";
import { surroundingsOf } from "./surroundings.ts";

/**
 * Tells what looks like a mistake in revisions at this moment: what they name may have come and gone since they were
 * saved, what they say themselves has not. They are looked at as their owner's, whatever the key at hand reaches.
 */
export function presentWarnings(
  context: AgentsContext,
  owner: Caller,
): (
  agent: Pick<Agent, "visibility">,
  revision: Pick<Revision, "agentId" | "snapshot" | "warnings">,
) => Promise<AgentWarning[]> {
  const surroundings = surroundingsOf(context, { ...owner, models: null });
  return async ({ visibility }, { agentId, snapshot, warnings }) => {
    const found = await checkSurroundings(context, surroundings, owner, { agentId, visibility, fields: snapshot });
    const lasting = warnings.filter(({ field }) => selfContained.has(field));
    return [...lasting, ...found.warnings, ...found.issues.map(asWarning)];
  };
}

/** Of what stands already: it is told, and refuses nothing. */
export function asWarning({ loc, msg }: Issue): AgentWarning {
  return { field: String(loc[1]), message: msg };
}
