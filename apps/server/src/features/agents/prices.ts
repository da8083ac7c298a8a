import type { AgentCard, AgentSnapshot } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import { highestPricing } from "../billing/index.ts";
import type { Agent } from "./agent.ts";
import { findReach } from "./binding-store.ts";
import type { AgentsContext } from "./context.ts";
import { findRevision } from "./store.ts";

type Pricing = AgentSnapshot["pricing"];

/** Keys with a monthly limit are for running agents, not for pricing them. */
export function refusePrice(caller: Caller, wanted: Pricing | undefined, current: Pricing = { per_run: 0 }): void {
  if (caller.monthlyLimitMicros === null || wanted === undefined || wanted.per_run === current.per_run) return;
  const message = "This key has a monthly limit and cannot change the price of agents. Use a key without a limit.";
  throw fault("forbidden", message);
}

/** Refuses to publish a revision with another price. */
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

/** Charges of a run besides the agent's own price, as cards list them. */
export type AgentCosts = Pick<AgentCard, "models" | "agents">;

/**
 * Charges of published agents for a caller, including everything that the agents may call. Private models are left out:
 * their creator pays for them.
 */
export async function readCosts(
  { database, models }: AgentsContext,
  callerId: string,
  agentIds: readonly string[],
): Promise<(agentId: string) => AgentCosts> {
  const reach = await Promise.all(
    (await findReach(database.sql, agentIds)).map(async ({ model, calledModels, ...agent }) => {
      const creator = { userId: agent.ownerId };
      const called = [model, ...calledModels].map((name) => models.targetOf(creator, name));
      return { ...agent, models: await Promise.all(called) };
    }),
  );
  const named = [...new Set(reach.flatMap((agent) => agent.models))];
  const callable = await models.callableAmong({ userId: callerId, models: null }, named);
  return (agentId) => {
    const reached = reach.filter(({ rootId }) => rootId === agentId);
    const names = new Set(reached.flatMap((agent) => agent.models));
    const priced = reached.filter(({ perRun, isSold, ownerId }) => isSold && perRun > 0 && ownerId !== callerId);
    const prices = new Map(priced.map(({ agent, perRun }) => [agent, perRun]));
    return {
      models: [...names].flatMap((model) => {
        const found = callable.get(model);
        return found ? [{ model, pricing: highestPricing(found.manifest) }] : [];
      }),
      agents: [...prices].map(([agent, per_run]) => ({ agent, pricing: { per_run } })),
    };
  };
}
