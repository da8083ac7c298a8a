import type { Model } from "../models/index.ts";
import type { Run } from "./run.ts";

/**
 * Who pays for a call of a run's model in the caller's place: the agent's creator where the model is private, because the
 * caller can see neither the model nor its price.
 */
export function sponsorOf(
  { manifest }: Model,
  { ownerId, userId }: Pick<Run, "ownerId" | "userId">,
): string | undefined {
  return manifest.visibility === "private" && ownerId !== userId ? ownerId : undefined;
}

/** Whether an agent of this creator may be run with the model: who runs it does not matter. */
export function mayServe(model: Model | undefined, creatorId: string): model is Model {
  if (model === undefined || model.isOwnerDisabled) return false;
  return model.manifest.visibility === "public" || model.ownerId === creatorId;
}
