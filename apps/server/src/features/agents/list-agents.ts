import type { AgentVisibility } from "@gantry/wire";
import { type Caller, isConfined, type Page } from "../accounts/index.ts";
import type { SeenAgent } from "./agent.ts";
import type { AgentsContext } from "./context.ts";
import { presentWarnings } from "./present-warnings.ts";
import { listCards, listOwn } from "./store.ts";

export interface ListAgentsQuery {
  limit: number;
  offset: number;
  visibility?: AgentVisibility | undefined;
}

/**
 * The caller's own agents, newest first, with the warnings of the moment. A key limited to models gets the cards of those
 * that it may run.
 */
export async function listAgents(
  context: AgentsContext,
  caller: Caller,
  query: ListAgentsQuery,
): Promise<Page<SeenAgent>> {
  if (isConfined(caller)) {
    const cards = await listCards(context.database.sql, caller, query);
    return { ...cards, entries: cards.entries.map((card) => ({ ...card, isCard: true })) };
  }
  const { entries, total } = await listOwn(context.database.sql, caller.userId, query);
  const warningsOf = presentWarnings(context, caller);
  const warned = entries.map(async ({ agent, revision }) => ({
    agent,
    revision: { ...revision, warnings: await warningsOf(agent, revision) },
    isCard: false,
  }));
  return { entries: await Promise.all(warned), total };
}
