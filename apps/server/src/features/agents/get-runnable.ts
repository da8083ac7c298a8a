import { agentSlugPattern, isId, usernamePattern } from "@gantry/wire";
import type { Sql, Transaction } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { type Agent, agentNotFound, type Revision, revisionNotFound } from "./agent.ts";
import { isAgentBinding } from "./binding.rules.ts";
import { findCallable } from "./binding-store.ts";
import type { AgentsContext } from "./context.ts";
import { type AgentAddress, findIdsAt, findRevision, findVisible, isThere, lockVisible } from "./store.ts";

export interface Runnable {
  agent: Agent;
  /** What the run executes, and its price. */
  revision: Revision;
  isOwner: boolean;
}

/**
 * The revision that a run executes: the published one, or the one that the owner names. Rejects with `not_found` for
 * private agents of other users, and with `agent_not_published` without a published revision.
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
    throw fault("forbidden", "Only the owner of an agent can choose a revision. Leave revision_id out.", {
      loc: ["body", "revision_id"],
    });
  }
  return withRevision(database.sql, callerId, agent, revisionId);
}

/** The published revision. The agent cannot be published, hidden or deleted until the transaction ends. */
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

/** Ids of all agents that had this address, including deleted ones. Visibility is not checked. */
export async function idsAt({ database }: AgentsContext, address: AgentAddress): Promise<readonly string[]> {
  if (!isAddress(address)) return [];
  return "agentId" in address ? [address.agentId] : findIdsAt(database.sql, address);
}

export async function exists({ database }: AgentsContext, address: AgentAddress): Promise<boolean> {
  return isAddress(address) && isThere(database.sql, address);
}

function isAddress(address: AgentAddress): boolean {
  if ("agentId" in address) return isId("agent", address.agentId);
  return usernamePattern.test(address.creator) && agentSlugPattern.test(address.slug);
}

/** Names of the sub-agents that exist. */
export async function boundNames(
  { database }: AgentsContext,
  { agent, revision }: Pick<Runnable, "agent" | "revision">,
): Promise<string[]> {
  const bindings = revision.snapshot.tools.filter(isAgentBinding);
  const ids = bindings.map(({ agent_id }) => agent_id);
  const slugs = new Map((await findCallable(database.sql, agent.ownerId, ids)).map(({ id, slug }) => [id, slug]));
  return bindings.flatMap(({ name, agent_id }) => name ?? slugs.get(agent_id) ?? []);
}
