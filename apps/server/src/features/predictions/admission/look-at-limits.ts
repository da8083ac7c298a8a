import type { Caller } from "../../accounts/index.ts";
import type { Model } from "../../models/index.ts";
import type { Route } from "../prediction.ts";
import type { ArrivingPrediction, Decision } from "../store.ts";
import { type Admit, figuresOf, type RateFigures } from "./admit-predictions.ts";

export interface LookRequest {
  caller: Caller;
  model: Model;
  route: Route;
  /** Whether it counts as a request of the last minute. */
  counts: boolean;
}

/** Rejects as admission would, and admits nothing. Answers what the plan's limit still allows. */
export async function lookAtLimits(admit: Admit, request: LookRequest): Promise<RateFigures | undefined> {
  return (await admit(lookOf(request))).rate;
}

/** What the plan's limit still allows, for an answer that counts as no request and that nothing refuses. */
export async function readRate(
  decide: (arrival: ArrivingPrediction) => Promise<Decision>,
  request: Omit<LookRequest, "counts">,
): Promise<RateFigures | undefined> {
  return figuresOf(await decide(lookOf({ ...request, counts: false })));
}

function lookOf({ caller, model, route, counts }: LookRequest): ArrivingPrediction {
  return {
    id: "",
    userId: caller.userId,
    keyId: caller.keyId,
    modelId: model.id,
    modelName: model.endpointId,
    route,
    highPriority: false,
    reservation: 0,
    queueSeconds: 0,
    purpose: counts ? "look_and_count" : "look",
  };
}
