import type { AgentCard } from "@gantry/sdk";
import { money } from "../../ui/format.ts";
import { isRecord } from "../../ui/json.rules.ts";
import { priceParts } from "../models/price.rules.ts";

export const priceOf = ({ pricing }: Pick<AgentCard, "pricing">): string =>
  pricing.per_run > 0 ? `${money(pricing.per_run)} a run` : "Free";

/** What a run costs beside the price of the agent: one line for each model, and for each agent that it may call. */
export function furtherCosts({ models, agents }: Pick<AgentCard, "models" | "agents">): string[] {
  return [
    ...models.map(({ model, pricing }) => `${model}: ${priceParts(pricing).join(", ")}`),
    ...agents.map(({ agent, pricing }) => `${agent}: ${money(pricing.per_run)} a run`),
  ];
}

/** What an agent wants to be given. Its card has no description, so this is what tells most about it. */
export function takes({ input_schema: { properties } }: Pick<AgentCard, "input_schema">): string {
  const names = Object.keys(isRecord(properties) ? properties : {});
  return names.length === 0 ? "Takes any input" : `Takes ${names.join(", ")}`;
}
