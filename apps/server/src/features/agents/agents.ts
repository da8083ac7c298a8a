import { type AgentVisibility, isId } from "@gantry/wire";
import { type Caller, isConfined, type Page } from "../accounts/index.ts";
import { type AgentWithRevision, agentNotFound, type SeenAgent } from "./agent.ts";
import { presentWarnings } from "./check-snapshot.ts";
import type { AgentsContext } from "./context.ts";
import { findCard, findOwn, listCards, listOwn, lockOwn, markDeleted } from "./store.ts";

/** The caller's own agent with its latest revision; another user's, public or not, is not found. */
export async function requireOwn(
  { database }: AgentsContext,
  caller: Caller,
  agentId: string,
): Promise<AgentWithRevision> {
  // What can be no id never reaches the database.
  const own = isId("agent", agentId) ? await findOwn(database.sql, caller.userId, agentId) : undefined;
  if (!own) throw agentNotFound();
  return own;
}

/**
 * An agent as the caller may see it: an own one by its latest revision, with the warnings of the moment; a public one, and
 * for a key limited to models an own one that it may run, as the card of its published revision.
 */
export async function readAgent(context: AgentsContext, caller: Caller, agentId: string): Promise<SeenAgent> {
  if (!isId("agent", agentId)) throw agentNotFound();
  const { sql } = context.database;
  const own = isConfined(caller) ? undefined : await findOwn(sql, caller.userId, agentId);
  if (own) {
    const warnings = await presentWarnings(context, caller)(own.agent, own.revision);
    return { agent: own.agent, revision: { ...own.revision, warnings }, isCard: false };
  }
  const card = await findCard(sql, caller, agentId);
  if (!card) throw agentNotFound();
  return { ...card, isCard: true };
}

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

/** The agent is gone for reads and new runs, and its slug is free again. Its runs stay readable and live ones go on. */
export async function deleteAgent({ database, clock }: AgentsContext, caller: Caller, agentId: string): Promise<void> {
  if (!isId("agent", agentId)) throw agentNotFound();
  await database.transaction(async (tx) => {
    const agent = await lockOwn(tx, caller.userId, agentId);
    if (!agent) throw agentNotFound();
    await markDeleted(tx, caller.userId, agentId, clock.now());
  });
}
