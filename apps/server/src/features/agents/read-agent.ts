import { isId } from "@gantry/wire";
import { type Caller, isConfined } from "../accounts/index.ts";
import type { AgentWithRevision, SeenAgent } from "./agent.ts";
import { agentNotFound } from "./agent-faults.ts";
import type { AgentsContext } from "./context.ts";
import { presentWarnings } from "./present-warnings.ts";
import { findCard, findOwn } from "./store.ts";

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
