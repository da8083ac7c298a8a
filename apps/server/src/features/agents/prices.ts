import type { AgentCard, AgentSnapshot } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { type Caller, isLimited, isPlainMember } from "../accounts/index.ts";
import { highestPricing } from "../billing/index.ts";
import type { Agent } from "./agent.ts";
import { findReach, type ReachedAgent } from "./binding-store.ts";
import type { AgentsContext } from "./context.ts";
import { findRevision } from "./store.ts";

type Pricing = AgentSnapshot["pricing"];

/** Keys with limits are for running agents, not for pricing them. Plain members do not set prices of a team. */
export function refusePrice(caller: Caller, wanted: Pricing | undefined, current: Pricing = { per_run: 0 }): void {
  if (maySetPrices(caller) || wanted === undefined || wanted.per_run === current.per_run) return;
  const message = isLimited(caller)
    ? "This key has a limit and cannot change the price of agents. Use a key without limits."
    : "Only admins and owners of the team may change the price of agents.";
  throw fault("forbidden", message);
}

const maySetPrices = (caller: Caller): boolean => !isLimited(caller) && !isPlainMember(caller);

/** Refuses to publish a revision with another price. */
export async function refusePublishedPrice(
  sql: Sql,
  caller: Caller,
  { id, publishedRevisionId }: Agent,
  { pricing }: AgentSnapshot,
): Promise<void> {
  if (maySetPrices(caller)) return;
  const published = publishedRevisionId === null ? undefined : await findRevision(sql, id, publishedRevisionId);
  refusePrice(caller, pricing, published?.snapshot.pricing);
}

/** Charges of a run besides the agent's own price, and what it may use of its caller, as cards list them. */
export type AgentCosts = Pick<AgentCard, "models" | "agents" | "connectors">;

/**
 * Charges of published agents for a caller, including everything that the agents may call. Private models are left out:
 * their creator pays for them.
 */
export async function readCosts(
  { database, models }: AgentsContext,
  callerId: string,
  agentIds: readonly string[],
): Promise<(agentId: string) => AgentCosts> {
  if (agentIds.length === 0) return () => ({ models: [], agents: [], connectors: [] });
  const reach = await Promise.all(
    (await findReach(database.sql, agentIds)).map(async (agent) => {
      const creator = { userId: agent.ownerId };
      const called = [agent.model, ...agent.calledModels].map((name) => models.targetOf(creator, name));
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
      connectors: usableBy(reached),
    };
  };
}

/** What of their caller's the agents can use, if the caller allows it. */
function usableBy(agents: readonly Pick<ReachedAgent, "toolIds" | "calledModels">[]): AgentCosts["connectors"] {
  const callers = agents.filter(({ toolIds }) => toolIds.includes("run_model"));
  return [
    ...(agents.some(({ toolIds }) => toolIds.some((id) => id.startsWith("idp_"))) ? (["idp"] as const) : []),
    // A bound model is the creator's choice. Only an open `run_model` reaches private models of the caller.
    ...(callers.some(({ calledModels }) => calledModels.length === 0) ? (["models"] as const) : []),
    ...(callers.length > 0 ? (["files"] as const) : []),
  ];
}
