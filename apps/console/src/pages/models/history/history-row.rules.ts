import type { PredictionSummary } from "@gantry/sdk";
import { money } from "../../../ui/format.ts";
import { firstLine } from "../../predictions/prediction-summary.rules.ts";

/** The first line of the answer. */
export const answerOf = ({ preview }: Pick<PredictionSummary, "preview">): string | undefined =>
  firstLine(preview.output);

export const costOf = ({ price, reserved }: Pick<PredictionSummary, "price" | "reserved">): string => {
  if (price !== null) return price === 0 ? "Free" : money(price);
  return reserved > 0 ? `${money(reserved)} on hold` : "";
};
