import { isDeepStrictEqual } from "node:util";
import { fault, throwIfAny } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import { isAdmin } from "./access.rules.ts";
import { backendIssues } from "./check-backend.rules.ts";
import type { ModelsContext } from "./context.ts";
import { checkPatched, patched, withFurther } from "./manifest.rules.ts";
import type { Model } from "./model.ts";
import { getModel, projectNotFound, refuseUnlessChangeable } from "./resolve-model.ts";
import { lockModel, updateModel } from "./store.ts";
import { takenDownConflict } from "./take-down-model.ts";

/**
 * Changes the given fields, each as a whole; null takes an optional field away. The result must be a valid manifest.
 * Two patches at once both take effect: each is laid over what the other left.
 */
export async function patchModel(
  context: ModelsContext,
  caller: Caller,
  owner: string,
  name: string,
  body: unknown,
): Promise<Model> {
  if (!(await getModel(context, `${owner}/${name}`))) throw projectNotFound();
  refuseUnlessChangeable(caller, owner);
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw fault("json_invalid", "The body must be a JSON object");
  }
  const model = await context.database.transaction(async (tx) => {
    const stored = await lockModel(tx, owner, name);
    if (!stored) throw projectNotFound();
    const before = stored.model.manifest;
    const whole = patched(before, body);
    const { manifest, issues } = checkPatched(name, before, body);
    const rights = { isAdmin: isAdmin(caller) };
    throwIfAny(withFurther(issues, backendIssues(whole.backend, before.backend, rights, context.builtins)));
    if (!manifest) throw new Error("a manifest was refused without an issue");
    if (stored.model.takenDown && manifest.visibility === "public") throw takenDownConflict("model");
    return isDeepStrictEqual(manifest, before)
      ? stored.model
      : updateModel(tx, stored.model.id, manifest, stored.seeded);
  });
  context.memory.forget(model.endpointId);
  return model;
}
