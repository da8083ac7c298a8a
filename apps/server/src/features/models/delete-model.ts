import type { Caller } from "../accounts/index.ts";
import type { ModelsContext } from "./context.ts";
import { getModel, projectNotFound, refuseUnlessChangeable } from "./resolve-model.ts";
import { lockModel, retireModel } from "./store.ts";

/** Retires a model: no new runs, what was accepted still ends, the name is free again. */
export async function deleteModel(context: ModelsContext, caller: Caller, owner: string, name: string): Promise<void> {
  if (!(await getModel(context, `${owner}/${name}`))) throw projectNotFound();
  refuseUnlessChangeable(caller, owner);
  await context.database.transaction(async (tx) => {
    const stored = await lockModel(tx, owner, name);
    if (!stored) throw projectNotFound();
    await retireModel(tx, stored.model);
  });
  context.memory.forget(`${owner}/${name}`);
}
