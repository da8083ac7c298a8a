import { isDeepStrictEqual } from "node:util";
import type { Manifest } from "@gantry/wire";
import type { Database, Transaction } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import type { ModelsContext } from "./context.ts";
import { projectNotFound, refuseUnlessChangeable } from "./find-models.ts";
import { checkManifest, reseeded } from "./manifest.rules.ts";
import type { Model, SeedModel } from "./model.ts";
import { findOwnerId, insertSeeded, lockModel, updateModel } from "./store.ts";

/**
 * Brings the built-in models in. Runs at every start of every node, after the users that own them were made; nodes
 * that start at once wait for each other's rows and find the work done.
 *
 *   no row of that name ──► made as shipped
 *   live, as shipped before, another manifest ships now ──► every field that the operator did not patch follows
 *   retired, or PUT by somebody ──► stays as it is, until an admin restores it
 */
export async function seedModels(database: Database, models: readonly SeedModel[]): Promise<void> {
  for (const model of models) await database.transaction((tx) => seedOne(tx, model));
}

/** Where a built-in model belongs, and its manifest as it is stored. What is wrong there is wrong with the program. */
export async function placeOf(
  tx: Transaction,
  { owner, name, manifest: shipped }: SeedModel,
): Promise<{ ownerId: string; manifest: Manifest }> {
  const ownerId = await findOwnerId(tx, owner);
  if (ownerId === undefined) throw new Error(`the built-in model ${owner}/${name} has no owner: make that user first`);
  const { manifest, issues } = checkManifest(name, shipped);
  if (!manifest) throw new Error(`the built-in model ${owner}/${name} is not valid: ${JSON.stringify(issues)}`);
  return { ownerId, manifest };
}

async function seedOne(tx: Transaction, model: SeedModel): Promise<void> {
  const { owner, name } = model;
  const { ownerId, manifest } = await placeOf(tx, model);
  if (await insertSeeded(tx, ownerId, name, { manifest, afterRetired: false })) return;

  const stored = await lockModel(tx, owner, name);
  if (!stored?.seeded || isDeepStrictEqual(stored.seeded, manifest)) return;
  const merged = reseeded(stored.model.manifest, stored.seeded, manifest, isDeepStrictEqual);
  const checked = checkManifest(name, merged);
  // What the operator patched may not go together with what ships now; then the model stays as it works today.
  if (checked.manifest) await updateModel(tx, stored.model.id, checked.manifest, manifest);
}

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
