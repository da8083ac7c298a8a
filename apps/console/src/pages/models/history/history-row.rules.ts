import type { PredictionSummary } from "@gantry/sdk";
import { money } from "../../../ui/format.ts";

export const costOf = ({ price, reserved }: Pick<PredictionSummary, "price" | "reserved">): string => {
  if (price !== null) return price === 0 ? "Free" : money(price);
  return reserved > 0 ? `${money(reserved)} on hold` : "";
};
