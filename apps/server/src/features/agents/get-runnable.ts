import { agentSlugPattern, isId, usernamePattern } from "@gantry/wire";
import type { Sql, Transaction } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { type Agent, agentNotFound, type Revision, revisionNotFound } from "./agent.ts";
import { isAgentBinding } from "./binding.rules.ts";
import { findCallable } from "./binding-store.ts";
import type { AgentsContext } from "./context.ts";
import { type AgentAddress, findIdsAt, findRevision, findVisible, lockVisible } from "./store.ts";

export interface Runnable {
  agent: Agent;
  /** What the run executes, and the price that it is run for. */
  revision: Revision;
  isOwner: boolean;
}

/**
 * The revision of an agent that a user may start a run of, by the agent's id or by creator and slug: the published one,
 * for its owner also any other that is named. Not the caller's and private, deleted, or unknown: not found; without a
 * published revision: `agent_not_published`.
 */
export async function getRunnable(
  { database }: AgentsContext,
  callerId: string,
  address: AgentAddress,
  revisionId?: string,
): Promise<Runnable> {
  const agent = isAddress(address) ? await findVisible(database.sql, callerId, address) : undefined;
  if (!agent) throw agentNotFound();
  if (revisionId !== undefined && agent.ownerId !== callerId) {
    throw fault("forbidden", "Only its owner may name the revision of an agent", { loc: ["body", "revision_id"] });
  }
  return withRevision(database.sql, callerId, agent, revisionId);
}

/** The published revision, which stays what the agent is, and the agent there, until the transaction ends. */
export async function lockRunnable(tx: Transaction, callerId: string, agentId: string): Promise<Runnable> {
  const agent = isId("agent", agentId) ? await lockVisible(tx, callerId, agentId) : undefined;
  if (!agent) throw agentNotFound();
  return withRevision(tx, callerId, agent);
}

async function withRevision(sql: Sql, callerId: string, agent: Agent, revisionId?: string): Promise<Runnable> {
  const wanted = revisionId ?? agent.publishedRevisionId;
  if (wanted === null) throw fault("agent_not_published", "The agent has no published revision");
  const revision = isId("revision", wanted) ? await findRevision(sql, agent.id, wanted) : undefined;
  if (!revision) throw revisionNotFound();
  return { agent, revision, isOwner: agent.ownerId === callerId };
}

/** For what belongs to an agent whatever became of it; says nothing of who may see it. */
export async function idsAt({ database }: AgentsContext, address: AgentAddress): Promise<readonly string[]> {
  if (!isAddress(address)) return [];
  return "agentId" in address ? [address.agentId] : findIdsAt(database.sql, address);
}

/** What can be no address never reaches the database. */
function isAddress(address: AgentAddress): boolean {
  if ("agentId" in address) return isId("agent", address.agentId);
  return usernamePattern.test(address.creator) && agentSlugPattern.test(address.slug);
}

/** What the agents go by that an agent has as tools, as far as they are there. */
export async function boundNames(
  { database }: AgentsContext,
  { agent, revision }: Pick<Runnable, "agent" | "revision">,
): Promise<string[]> {
  const bindings = revision.snapshot.tools.filter(isAgentBinding);
  const ids = bindings.map(({ agent_id }) => agent_id);
  const slugs = new Map((await findCallable(database.sql, agent.ownerId, ids)).map(({ id, slug }) => [id, slug]));
  return bindings.flatMap(({ name, agent_id }) => name ?? slugs.get(agent_id) ?? []);
}
