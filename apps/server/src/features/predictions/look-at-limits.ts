import type { Caller } from "../accounts/index.ts";
import type { Model } from "../models/index.ts";
import type { Admit, RateFigures } from "./admit-predictions.ts";
import type { Route } from "./prediction.ts";

export interface LookRequest {
  caller: Caller;
  model: Model;
  route: Route;
  /** Whether it counts as a request of the last minute. */
  counts: boolean;
}

/** Rejects as admission would, and admits nothing. Answers what the plan's limit still allows. */
export async function lookAtLimits(
  admit: Admit,
  { caller, model, route, counts }: LookRequest,
): Promise<RateFigures | undefined> {
  const { rate } = await admit({
    id: "",
    userId: caller.userId,
    keyId: caller.keyId,
    modelId: model.id,
    modelName: model.endpointId,
    route,
    highPriority: false,
    holder: null,
    reservation: 0,
    queueSeconds: 0,
    purpose: counts ? "look_and_count" : "look",
  });
  return rate;
}
