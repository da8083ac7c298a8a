import type { AgentCard } from "@gantry/sdk";
import { money } from "../../ui/format.ts";
import { isRecord } from "../../ui/json.rules.ts";
import { priceParts } from "../models/price.rules.ts";

export const priceOf = ({ pricing }: Pick<AgentCard, "pricing">): string =>
  pricing.per_run > 0 ? `${money(pricing.per_run)} per run` : "Free";

/** Costs besides the price of the agent: one line per model and per agent that it may call. */
export function furtherCosts({ models, agents }: Pick<AgentCard, "models" | "agents">): string[] {
  return [
    ...models.map(({ model, pricing }) => `${model}: ${priceParts(pricing).join(", ")}`),
    ...agents.map(({ agent, pricing }) => `${agent}: ${money(pricing.per_run)} per run`),
  ];
}

/** Replaces a description, which cards do not have. */
export function inputSummary({ input_schema: { properties } }: Pick<AgentCard, "input_schema">): string {
  const names = Object.keys(isRecord(properties) ? properties : {});
  return names.length === 0 ? "Accepts any input" : `Input: ${names.join(", ")}`;
}
