import type { AgentVisibility } from "@gantry/wire";
import type { Caller, Page } from "../accounts/index.ts";
import type { AgentWithRevision } from "./agent.ts";
import type { AgentsContext } from "./context.ts";
import { listOwn } from "./store.ts";

export interface ListAgentsQuery {
  limit: number;
  offset: number;
  visibility?: AgentVisibility | undefined;
}

/** The caller's own agents, newest first. */
export async function listAgents(
  { database }: AgentsContext,
  caller: Caller,
  query: ListAgentsQuery,
): Promise<Page<AgentWithRevision>> {
  return listOwn(database.sql, caller.userId, query);
}
