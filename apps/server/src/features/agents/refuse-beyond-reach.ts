import type { AgentSnapshot } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { beyondKey, type Caller, isConfined, keyReaches } from "../accounts/index.ts";
import type { Agent } from "./agent.ts";
import { boundAgentIds } from "./binding.rules.ts";
import { beyondReach } from "./reach.rules.ts";
import { findModelsOf, findRevision } from "./store.ts";

/** Refuses a confined key an agent that would have these contents. */
export async function refuseContents(sql: Sql, caller: Caller, contents: Partial<AgentSnapshot>): Promise<void> {
  if (!isConfined(caller)) return;
  const why = beyondReach(caller, contents);
  if (why !== undefined) throw beyondKey(`manage agents ${why}`);
  const below = await findModelsOf(sql, caller.userId, boundAgentIds(contents.tools ?? []));
  if (below.every((model) => keyReaches(caller, model))) return;
  throw beyondKey("manage agents that call agents on models that it does not reach");
}

/**
 * Refuses a confined key an agent that stands, by its draft and by what is published. What is refused must not come in
 * between: whoever goes on to write calls this while the agent is locked.
 */
export async function refuseStanding(sql: Sql, caller: Caller, agent: Agent): Promise<void> {
  if (!isConfined(caller)) return;
  for (const revisionId of new Set([agent.publishedRevisionId, agent.latestRevisionId])) {
    const revision = revisionId === null ? undefined : await findRevision(sql, agent.id, revisionId);
    if (revision) await refuseContents(sql, caller, revision.snapshot);
  }
}
