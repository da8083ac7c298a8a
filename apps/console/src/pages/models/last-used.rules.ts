import type { PredictionSummary } from "@gantry/sdk";

/** When each model was used last, from the newest predictions. Models that are not among them are left out. */
export function lastUses(
  predictions: readonly Pick<PredictionSummary, "model_name" | "created_at">[],
): ReadonlyMap<string, string> {
  const uses = new Map<string, string>();
  for (const { model_name, created_at } of predictions) {
    const known = uses.get(model_name);
    if (known === undefined || Date.parse(known) < Date.parse(created_at)) uses.set(model_name, created_at);
  }
  return uses;
}
