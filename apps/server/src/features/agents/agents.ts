import { type AgentVisibility, isId } from "@gantry/wire";
import { type Caller, isConfined, type Page } from "../accounts/index.ts";
import { record } from "../audit/index.ts";
import { type AgentWithRevision, agentNotFound, type SeenAgent } from "./agent.ts";
import { presentWarnings } from "./check-snapshot.ts";
import type { AgentsContext } from "./context.ts";
import { cardReaderOf } from "./key-reach.ts";
import { refusePlainMember } from "./plain-members.ts";
import { findCard, findOwn, listCards, listOwn, lockOwn, markDeleted } from "./store.ts";

/** The caller's agent with its latest revision. Agents of other users are not found. */
export async function requireOwn(
  { database }: AgentsContext,
  caller: Caller,
  agentId: string,
): Promise<AgentWithRevision> {
  const own = isId("agent", agentId) ? await findOwn(database.sql, caller.userId, agentId) : undefined;
  if (!own) throw agentNotFound();
  return own;
}

/**
 * Owners see the latest revision with current warnings. Others see the card of a public agent; so does a key limited to
 * models, also for private agents of its user that it may run.
 */
export async function readAgent(context: AgentsContext, caller: Caller, agentId: string): Promise<SeenAgent> {
  if (!isId("agent", agentId)) throw agentNotFound();
  const { sql } = context.database;
  const own = isConfined(caller) ? undefined : await findOwn(sql, caller.userId, agentId);
  if (own) {
    const warnings = await presentWarnings(context, caller)(own.agent, own.revision);
    return { agent: own.agent, revision: { ...own.revision, warnings }, isCard: false };
  }
  const card = await findCard(sql, await cardReaderOf(context, caller), agentId);
  if (!card) throw agentNotFound();
  return { ...card, isCard: true };
}

export interface ListAgentsQuery {
  limit: number;
  offset: number;
  visibility?: AgentVisibility | undefined;
}

/** Newest first, with current warnings. A key limited to models gets cards of the agents that it may run. */
export async function listAgents(
  context: AgentsContext,
  caller: Caller,
  query: ListAgentsQuery,
): Promise<Page<SeenAgent>> {
  if (isConfined(caller)) {
    const cards = await listCards(context.database.sql, await cardReaderOf(context, caller), query);
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

/** Hides the agent and frees its slug. Existing runs continue and stay readable. */
export async function deleteAgent({ database, clock }: AgentsContext, caller: Caller, agentId: string): Promise<void> {
  if (!isId("agent", agentId)) throw agentNotFound();
  await database.transaction(async (tx) => {
    const agent = await lockOwn(tx, caller.userId, agentId);
    if (!agent) throw agentNotFound();
    refusePlainMember(caller, agent);
    await markDeleted(tx, caller.userId, agentId, clock.now());
    const object = { id: agentId, name: `${agent.owner}/${agent.slug}` };
    await record(tx, { action: "agent.delete", object, ownerId: agent.ownerId });
  });
}
