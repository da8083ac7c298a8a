import { type AgentSnapshot, isEndpointId } from "@gantry/wire";
import { type Caller, keyReaches } from "../accounts/index.ts";
import type { Agent } from "./agent.ts";
import type { AgentsContext } from "./context.ts";
import type { CardReader } from "./store.ts";

type Address = Pick<Agent, "owner" | "slug">;

/** The name of an agent in a list of models. */
export function agentName({ owner, slug }: Address): string {
  return `agents/${owner}/${slug}`;
}

/** Whether a key may run the agent: it lists the agent or the agent's model. */
export async function keyReachesAgent(
  { models }: Pick<AgentsContext, "models">,
  caller: Pick<Caller, "models">,
  agent: Address & Pick<Agent, "ownerId">,
  { model }: Pick<AgentSnapshot, "model">,
): Promise<boolean> {
  if (keyReaches(caller, agentName(agent))) return true;
  return keyReaches(caller, await models.targetOf({ userId: agent.ownerId }, model));
}

/** Adds the owner's aliases of the models in the key's list: an agent may name its model by an alias. */
export async function cardReaderOf({ models }: AgentsContext, caller: Caller): Promise<CardReader> {
  const listed = caller.models ?? [];
  const aliases = await models.namesFor(caller, listed.filter(isEndpointId));
  return { userId: caller.userId, models: [...listed, ...aliases] };
}
