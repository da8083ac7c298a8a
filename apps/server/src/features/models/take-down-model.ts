import { type Fault, fault } from "../../kernel/errors.ts";
import type { ModelsContext } from "./context.ts";
import type { Model } from "./model.ts";
import { canBeEndpointId, projectNotFound } from "./resolve-model.ts";
import { announceChange, lockModel, markRestored, markTakenDown } from "./store.ts";

export function takenDownConflict(what: string): Fault {
  return fault("conflict", `An admin took this ${what} down. It stays private until an admin restores it.`);
}

/** Takes a model away from everyone but its owner. What was accepted before still ends. For admins. */
export async function takeDownModel(context: ModelsContext, endpointId: string, reason: string): Promise<Model> {
  return changeTakenDown(context, endpointId, async (tx, { model, seeded }) => {
    if (seeded) throw fault("conflict", "A built-in model cannot be taken down. Delete it, or set its capacity to 0.");
    await markTakenDown(tx, model, { reason, now: new Date() });
  });
}

/** Gives a model back the visibility that it had. One that is not taken down stays as it is. */
export async function restoreTakenDownModel(context: ModelsContext, endpointId: string): Promise<Model> {
  return changeTakenDown(context, endpointId, async (tx, { model }) => {
    if (model.takenDown) await markRestored(tx, model);
  });
}

type Change = (
  tx: Parameters<typeof lockModel>[0],
  stored: NonNullable<Awaited<ReturnType<typeof lockModel>>>,
) => Promise<void>;

async function changeTakenDown(
  { database, memory }: ModelsContext,
  endpointId: string,
  change: Change,
): Promise<Model> {
  if (!canBeEndpointId(endpointId)) throw projectNotFound();
  const [owner = "", name = ""] = endpointId.split("/");
  const model = await database.transaction(async (tx) => {
    const stored = await lockModel(tx, owner, name);
    if (!stored) throw projectNotFound();
    await change(tx, stored);
    await announceChange(tx, endpointId);
    return (await lockModel(tx, owner, name))?.model;
  });
  memory.forget(endpointId);
  if (!model) throw projectNotFound();
  return model;
}
