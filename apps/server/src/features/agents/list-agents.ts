import type { AgentVisibility } from "@gantry/wire";
import type { Caller, Page } from "../accounts/index.ts";
import type { AgentWithRevision } from "./agent.ts";
import type { AgentsContext } from "./context.ts";
import { presentWarnings } from "./present-warnings.ts";
import { listOwn } from "./store.ts";

export interface ListAgentsQuery {
  limit: number;
  offset: number;
  visibility?: AgentVisibility | undefined;
}

/** The caller's own agents, newest first, with the warnings of the moment. */
export async function listAgents(
  context: AgentsContext,
  caller: Caller,
  query: ListAgentsQuery,
): Promise<Page<AgentWithRevision>> {
  const { entries, total } = await listOwn(context.database.sql, caller.userId, query);
  const warningsOf = presentWarnings(context, caller);
  const warned = entries.map(async ({ agent, revision }) => ({
    agent,
    revision: { ...revision, warnings: await warningsOf(agent, revision) },
  }));
  return { entries: await Promise.all(warned), total };
}
