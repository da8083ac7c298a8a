import type { AgentCard } from "@gantry/wire";
import { findReach } from "./binding-store.ts";
import type { AgentsContext } from "./context.ts";

/** What a caller pays for a run beside the agent's own price: the part of a card that names models and agents. */
export type AgentCosts = Pick<AgentCard, "models" | "agents">;

/**
 * What runs of published agents cost this caller, by agent: looked up for the agents and for everything that they may
 * call. A model that the caller cannot call is private to a creator, who pays for it.
 */
export async function readCosts(
  { database, models }: AgentsContext,
  callerId: string,
  agentIds: readonly string[],
): Promise<(agentId: string) => AgentCosts> {
  const reach = await findReach(database.sql, agentIds);
  const named = [...new Set(reach.flatMap(({ model, calledModels }) => [model, ...calledModels]))];
  const callable = await models.callableAmong({ userId: callerId, models: null }, named);
  return (agentId) => {
    const reached = reach.filter(({ rootId }) => rootId === agentId);
    const names = new Set(reached.flatMap(({ model, calledModels }) => [model, ...calledModels]));
    const priced = reached.filter(({ perRun, isSold, ownerId }) => isSold && perRun > 0 && ownerId !== callerId);
    const prices = new Map(priced.map(({ agent, perRun }) => [agent, perRun]));
    return {
      models: [...names].flatMap((model) => {
        const found = callable.get(model);
        return found ? [{ model, pricing: found.manifest.pricing }] : [];
      }),
      agents: [...prices].map(([agent, per_run]) => ({ agent, pricing: { per_run } })),
    };
  };
}
