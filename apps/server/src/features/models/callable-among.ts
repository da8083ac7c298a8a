import type { Caller } from "../accounts/index.ts";
import { mayCall } from "./access.rules.ts";
import type { ModelsContext } from "./context.ts";
import type { Model } from "./model.ts";
import { canBeEndpointId } from "./resolve-model.ts";
import { findModels } from "./store.ts";

/** Those of the models that the caller may call, active or not, by endpoint id: asked for together, as they are now. */
export async function callableAmong(
  { database }: ModelsContext,
  caller: Pick<Caller, "userId" | "models">,
  endpointIds: readonly string[],
): Promise<ReadonlyMap<string, Model>> {
  const found = await findModels(database.sql, endpointIds.filter(canBeEndpointId));
  const callable = found.filter((model) => !model.isOwnerDisabled && mayCall(caller, model));
  return new Map(callable.map((model) => [model.endpointId, model]));
}
