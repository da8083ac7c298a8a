import type { ModelCard } from "@gantry/sdk";
import { money } from "../../../ui/format.ts";
import { priceParts } from "../../models/price.rules.ts";

/** A line of the select: the name and a short price. */
export function modelOption({ endpoint_id, pricing }: Pick<ModelCard, "endpoint_id" | "pricing">): string {
  const { per_million_input_tokens: input = 0, per_million_output_tokens: output = 0, ...others } = pricing;
  const isByToken = (input > 0 || output > 0) && !others.per_request && !others.per_second;
  const price = isByToken
    ? `${money(input)} in, ${money(output)} out per 1M tokens`
    : priceParts(pricing).join(", ").toLowerCase();
  return `${endpoint_id} (${price})`;
}
