import type { Model } from "../models/index.ts";

/** Whether an agent of this creator may be run with the model: who runs it does not matter. */
export function mayServe(model: Model | undefined, creatorId: string): model is Model {
  if (model === undefined || model.isOwnerDisabled) return false;
  return model.manifest.visibility === "public" || model.ownerId === creatorId;
}
