import { isDeepStrictEqual } from "node:util";
import type { Manifest } from "@gantry/wire";
import type { Database, Transaction } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import type { ModelsContext } from "./context.ts";
import { projectNotFound, refuseUnlessChangeable } from "./find-models.ts";
import { checkManifest, reseeded } from "./manifest.rules.ts";
import type { Model, SeedModel } from "./model.ts";
import { recordModel } from "./record-model.ts";
import { findOwnerId, insertSeeded, lockModel, updateModel } from "./store.ts";

/**
 * Creates and updates the built-in models. Runs at every start of every node; concurrent starts wait for each other's rows.
 *
 *   no model of that name ──► created as shipped
 *   live, and the shipped manifest has changed ──► fields that the operator has not patched follow
 *   retired, or replaced by a PUT ──► unchanged until an admin restores it
 */
export async function seedModels(database: Database, models: readonly SeedModel[]): Promise<void> {
  for (const model of models) await database.transaction((tx) => seedOne(tx, model));
}

/** Owner and checked manifest. An error here is a bug of the program. */
async function prepareSeed(
  tx: Transaction,
  { owner, name, manifest: shipped }: SeedModel,
): Promise<{ ownerId: string; manifest: Manifest }> {
  const ownerId = await findOwnerId(tx, owner);
  if (ownerId === undefined) throw new Error(`owner of the built-in model ${owner}/${name} does not exist`);
  const { manifest, issues } = checkManifest(name, shipped);
  if (!manifest) throw new Error(`built-in model ${owner}/${name} is invalid: ${JSON.stringify(issues)}`);
  return { ownerId, manifest };
}

async function seedOne(tx: Transaction, model: SeedModel): Promise<void> {
  const { owner, name } = model;
  const { ownerId, manifest } = await prepareSeed(tx, model);
  if (await insertSeeded(tx, ownerId, name, { manifest, afterRetired: false })) return;

  const stored = await lockModel(tx, owner, name);
  if (!stored?.seeded || isDeepStrictEqual(stored.seeded, manifest)) return;
  const merged = reseeded(stored.model.manifest, stored.seeded, manifest, isDeepStrictEqual);
  const checked = checkManifest(name, merged);
  // If the operator's patch and the new manifest do not fit together, the model stays unchanged.
  if (checked.manifest) await updateModel(tx, stored.model.id, checked.manifest, manifest);
}

/** Restores a retired built-in model as currently shipped. A live model of that name must be deleted first. */
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
    const { ownerId, manifest } = await prepareSeed(tx, builtIn);
    const restored = await insertSeeded(tx, ownerId, name, { manifest, afterRetired: true });
    if (restored) await recordModel(tx, "model.restore", { after: restored });
    return restored;
  });
  if (!model) throw fault("conflict", `A model ${owner}/${name} exists. To restore the built-in one, delete it first.`);
  memory.forget(model.endpointId);
  return model;
}
