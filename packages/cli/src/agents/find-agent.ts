import type { AgentCard, AgentRecord, GantryClient } from "@gantry/sdk";
import { Failure } from "../frame/failure.ts";
import { money } from "../frame/format.rules.ts";

/** One of your agents by id, slug or name, or a public agent as `creator/slug`. */
export async function findAgent(client: GantryClient, text: string): Promise<AgentRecord | AgentCard> {
  if (text.startsWith("agt_")) return client.agents.get(text);
  const [owner, slug] = text.includes("/") ? text.split("/") : [undefined, text];
  const found: (AgentRecord | AgentCard)[] = [];
  for await (const agent of client.agents.each()) {
    const isNamed = agent.slug === slug || (owner === undefined && agent.name === text);
    if (isNamed && (owner === undefined || agent.owner === owner)) found.push(agent);
  }
  if (found.length === 0 && owner !== undefined) {
    for await (const card of client.marketplace.each({ q: slug })) {
      if (card.owner === owner && card.slug === slug) return card;
    }
  }
  const [only, another] = found;
  if (!only) throw new Failure(`The agent ${text} does not exist. gantry agents list shows your agents.`);
  if (!another) return only;
  const ids = found.map(({ id }) => id).join(", ");
  throw new Failure(`${found.length} agents have the name ${text}. Use one of the ids: ${ids}`);
}

/** A card describes an agent of another user, or is all that a limited key may see. */
export const isOwn = (agent: AgentRecord | AgentCard): agent is AgentRecord => "goal" in agent;

/** The price that you agree to, also to none: it may rise before the run. Your own agents cost you no price. */
export const agreedPrice = (agent: AgentRecord | AgentCard): { expected_price?: number } =>
  isOwn(agent) ? {} : { expected_price: agent.pricing.per_run };

/** Shown before it is agreed to. */
export const priceText = ({ name, pricing }: AgentRecord | AgentCard): string =>
  `A run of ${name} costs ${money(pricing.per_run)}, and its model calls.`;
