import { modelNamePattern, usernamePattern } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { type Issue, throwIfAny } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import { isAdmin } from "./access.rules.ts";
import { backendIssues } from "./check-backend.rules.ts";
import type { ModelsContext } from "./context.ts";
import { withImportedSchemas } from "./import-schemas.ts";
import { checkManifest, withFurther } from "./manifest.rules.ts";
import type { Model } from "./model.ts";
import { refuseUnlessChangeable } from "./resolve-model.ts";
import { findOwnerId, isTakenDown, lockModel, upsertModel } from "./store.ts";
import { takenDownConflict } from "./take-down-model.ts";

/** Creates a model or replaces the whole manifest of a live one. `created` tells the two apart. */
export async function putModel(
  context: ModelsContext,
  caller: Caller,
  owner: string,
  name: string,
  body: unknown,
): Promise<{ model: Model; created: boolean }> {
  refuseUnlessChangeable(caller, owner);
  const named = modelNamePattern.test(name);
  const ownerId = owner === caller.username ? caller.userId : await ownerIdOf(context.database.sql, owner);
  const whole =
    ownerId === undefined ? { body, issues: [] } : await withImportedSchemas(context.fetchCogSchema, ownerId, body);
  const { manifest, issues } = checkManifest(named ? name : "model", whole.body);
  const found: Issue[] = [];
  if (!named) {
    const msg = "A model's name has 1 to 63 of a-z, 0-9, ., _ and -, and begins with a letter or digit";
    found.push({ type: "value_error", loc: ["path", "model"], msg });
  }
  if (ownerId === undefined) found.push({ type: "value_error", loc: ["path", "owner"], msg: "There is no such user" });

  const model = await context.database.transaction(async (tx) => {
    const stored = found.length > 0 ? undefined : await lockModel(tx, owner, name);
    const rights = { isAdmin: isAdmin(caller) };
    const backend = backendIssues(backendIn(body), stored?.model.manifest.backend, rights, context.builtins);
    throwIfAny(withFurther([...found, ...issues], [...whole.issues, ...backend]));
    if (!manifest || ownerId === undefined) throw new Error("a manifest was refused without an issue");
    if (manifest.visibility === "public" && (await isTakenDown(tx, ownerId, name))) throw takenDownConflict("model");
    return upsertModel(tx, ownerId, name, manifest);
  });
  context.memory.forget(model.endpointId);
  return { model, created: model.version === 1 };
}

function backendIn(body: unknown): unknown {
  return typeof body === "object" && body !== null && "backend" in body ? body.backend : undefined;
}

async function ownerIdOf(sql: Sql, username: string): Promise<string | undefined> {
  return usernamePattern.test(username) ? findOwnerId(sql, username) : undefined;
}
