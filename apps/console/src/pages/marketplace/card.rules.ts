import type { AgentCard } from "@gantry/sdk";
import { money } from "../../ui/format.ts";
import { percent, runsText, successRate } from "../agents/activity.rules.ts";
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

/** For example "24 runs, 95% succeeded". */
export function activityText({ activity }: Pick<AgentCard, "activity">): string {
  const rate = successRate(activity);
  if (activity.runs === 0) return "No recent runs";
  return rate === undefined ? runsText(activity) : `${runsText(activity)}, ${percent(rate)} succeeded`;
}
