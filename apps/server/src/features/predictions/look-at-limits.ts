import type { Caller } from "../accounts/index.ts";
import type { Model } from "../models/index.ts";
import type { Admit } from "./admit-predictions.ts";
import type { Route } from "./prediction.ts";

export interface LookRequest {
  caller: Caller;
  model: Model;
  route: Route;
  /** Whether it counts as a request of the last minute. */
  counts: boolean;
}

/** Rejects as admission would, and admits nothing. */
export async function lookAtLimits(admit: Admit, { caller, model, route, counts }: LookRequest): Promise<void> {
  await admit({
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
}
