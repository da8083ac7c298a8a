import { fault } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import type { ModelsContext } from "./context.ts";
import type { Model } from "./model.ts";
import { projectNotFound, refuseUnlessChangeable } from "./resolve-model.ts";
import { placeOf } from "./seed-models.ts";
import { insertSeeded } from "./store.ts";

/**
 * Brings a built-in model back that was retired, as it ships now; from then on it follows what ships, as before. One that
 * stands is not touched: whoever replaced it retires that one first.
 */
export async function restoreModel(
  { database, shipped, memory }: ModelsContext,
  caller: Caller,
  owner: string,
  name: string,
): Promise<Model> {
  refuseUnlessChangeable(caller, owner);
  const builtIn = shipped.find((one) => one.owner === owner && one.name === name);
  if (!builtIn) throw projectNotFound();
  const model = await database.transaction(async (tx) => {
    const { ownerId, manifest } = await placeOf(tx, builtIn);
    return insertSeeded(tx, ownerId, name, { manifest, afterRetired: true });
  });
  if (!model) throw fault("conflict", `There is a model ${owner}/${name}: delete it first`);
  memory.forget(model.endpointId);
  return model;
}
