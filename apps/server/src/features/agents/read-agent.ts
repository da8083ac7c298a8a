import { isId } from "@gantry/wire";
import type { Caller } from "../accounts/index.ts";
import type { AgentWithRevision } from "./agent.ts";
import { agentNotFound } from "./agent-faults.ts";
import type { AgentsContext } from "./context.ts";
import { presentWarnings } from "./present-warnings.ts";
import { findOwn, findPublic } from "./store.ts";

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
 * An agent as the caller may see it: an own one by its latest revision, with the warnings of the moment, a public one by
 * its published revision.
 */
export async function readAgent(
  context: AgentsContext,
  caller: Caller,
  agentId: string,
): Promise<AgentWithRevision & { isOwner: boolean }> {
  if (!isId("agent", agentId)) throw agentNotFound();
  const { sql } = context.database;
  const own = await findOwn(sql, caller.userId, agentId);
  if (own) {
    const warnings = await presentWarnings(context, caller)(own.agent, own.revision);
    return { agent: own.agent, revision: { ...own.revision, warnings }, isOwner: true };
  }
  const shared = await findPublic(sql, agentId);
  if (!shared) throw agentNotFound();
  return { ...shared, isOwner: false };
}
