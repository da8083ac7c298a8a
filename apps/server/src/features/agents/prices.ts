import type { AgentCard, AgentSnapshot } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import type { Agent } from "./agent.ts";
import { findReach } from "./binding-store.ts";
import type { AgentsContext } from "./context.ts";
import { findRevision } from "./store.ts";

type Pricing = AgentSnapshot["pricing"];

/** A key with a monthly limit was made to run things: what an agent earns is its owner's decision. */
export function refusePrice(caller: Caller, wanted: Pricing | undefined, standing: Pricing = { per_run: 0 }): void {
  if (caller.monthlyLimitMicros === null || wanted === undefined || wanted.per_run === standing.per_run) return;
  const message = "This key has a monthly limit and cannot change the price of agents. Use a key without a limit.";
  throw fault("forbidden", message);
}

/** Refuses a revision that others would buy at another price than that of the published one. */
export async function refusePublishedPrice(
  sql: Sql,
  caller: Caller,
  { id, publishedRevisionId }: Agent,
  { pricing }: AgentSnapshot,
): Promise<void> {
  if (caller.monthlyLimitMicros === null) return;
  const published = publishedRevisionId === null ? undefined : await findRevision(sql, id, publishedRevisionId);
  refusePrice(caller, pricing, published?.snapshot.pricing);
}

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
