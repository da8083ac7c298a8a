import { isDeepStrictEqual } from "node:util";
import { modelNamePattern, usernamePattern } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { type Fault, fault, type Issue, throwIfAny } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import type { Caller } from "../accounts/index.ts";
import { isAdmin } from "./access.rules.ts";
import { backendsIssues } from "./backend.rules.ts";
import type { ModelsContext } from "./context.ts";
import { canBeEndpointId, getModel, projectNotFound, refuseUnlessChangeable } from "./find-models.ts";
import { withImportedSchemas } from "./import-schemas.ts";
import { checkManifest, checkPatched, patched, withFurther } from "./manifest.rules.ts";
import type { Model } from "./model.ts";
import { recordModel } from "./record-model.ts";
import {
  announceChange,
  findOwnerId,
  isTakenDown,
  keepPrivate,
  lockModel,
  markRestored,
  markTakenDown,
  retireModel,
  updateModel,
  upsertModel,
} from "./store.ts";

/** Creates a model or replaces the manifest of a live one. */
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
    const msg =
      "A model name must have 1 to 63 characters of a-z, 0-9, ., _ and -, and must begin with a letter or digit";
    found.push({ type: "value_error", loc: ["path", "model"], msg });
  }
  if (ownerId === undefined) found.push({ type: "value_error", loc: ["path", "owner"], msg: "User not found" });

  const model = await context.database.transaction(async (tx) => {
    const stored = found.length > 0 ? undefined : await lockModel(tx, owner, name);
    const rights = { isAdmin: isAdmin(caller) };
    const backend = backendsIssues(body, stored?.model.manifest, rights, context.builtins);
    throwIfAny(withFurther([...found, ...issues], [...whole.issues, ...backend]));
    if (!manifest || ownerId === undefined) throw new Error("invalid manifest without an issue");
    if (manifest.visibility === "public" && (await isTakenDown(tx, ownerId, name))) throw takenDownConflict("model");
    const put = await upsertModel(tx, ownerId, name, manifest);
    await recordModel(tx, "model.put", { before: stored?.model, after: put });
    return put;
  });
  context.memory.forget(model.endpointId);
  return { model, created: model.version === 1 };
}

async function ownerIdOf(sql: Sql, username: string): Promise<string | undefined> {
  return usernamePattern.test(username) ? findOwnerId(sql, username) : undefined;
}

/** Replaces the given fields; null removes an optional one. Concurrent patches both take effect. */
export async function patchModel(
  context: ModelsContext,
  caller: Caller,
  owner: string,
  name: string,
  body: unknown,
): Promise<Model> {
  if (!(await getModel(context, `${owner}/${name}`))) throw projectNotFound();
  refuseUnlessChangeable(caller, owner);
  if (!isRecord(body)) {
    throw fault("json_invalid", "The body must be a JSON object");
  }
  const model = await context.database.transaction(async (tx) => {
    const stored = await lockModel(tx, owner, name);
    if (!stored) throw projectNotFound();
    const before = stored.model.manifest;
    const whole = patched(before, body);
    const { manifest, issues } = checkPatched(name, before, body);
    const rights = { isAdmin: isAdmin(caller) };
    throwIfAny(withFurther(issues, backendsIssues(whole, before, rights, context.builtins)));
    if (!manifest) throw new Error("invalid manifest without an issue");
    if (stored.model.takenDown && manifest.visibility === "public") throw takenDownConflict("model");
    if (Object.hasOwn(body, "visibility") && manifest.visibility === "private") await keepPrivate(tx, stored.model.id);
    const after = isDeepStrictEqual(manifest, before)
      ? stored.model
      : await updateModel(tx, stored.model.id, manifest, stored.seeded);
    await recordModel(tx, "model.update", { before: stored.model, after });
    return after;
  });
  context.memory.forget(model.endpointId);
  return model;
}

/** Retires a model: accepted predictions still end, and the name is free again. */
export async function deleteModel(context: ModelsContext, caller: Caller, owner: string, name: string): Promise<void> {
  if (!(await getModel(context, `${owner}/${name}`))) throw projectNotFound();
  refuseUnlessChangeable(caller, owner);
  await context.database.transaction(async (tx) => {
    const stored = await lockModel(tx, owner, name);
    if (!stored) throw projectNotFound();
    await retireModel(tx, stored.model);
    await recordModel(tx, "model.delete", { before: stored.model });
  });
  context.memory.forget(`${owner}/${name}`);
}

export function takenDownConflict(what: string): Fault {
  return fault("conflict", `An admin took this ${what} down. It stays private until an admin restores it.`);
}

/** For admins: makes a model private. Accepted predictions still end. */
export async function takeDownModel(context: ModelsContext, endpointId: string, reason: string): Promise<Model> {
  return changeTakenDown(context, endpointId, { action: "model.take_down", reason }, async (tx, { model, seeded }) => {
    if (seeded) throw fault("conflict", "A built-in model cannot be taken down. Delete it, or set its capacity to 0.");
    await markTakenDown(tx, model, { reason, now: new Date() });
  });
}

/** Restores the visibility from before the take-down. */
export async function restoreTakenDownModel(context: ModelsContext, endpointId: string): Promise<Model> {
  return changeTakenDown(context, endpointId, { action: "model.reinstate" }, async (tx, { model }) => {
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
  { action, reason }: { action: "model.take_down" | "model.reinstate"; reason?: string },
  change: Change,
): Promise<Model> {
  if (!canBeEndpointId(endpointId)) throw projectNotFound();
  const [owner = "", name = ""] = endpointId.split("/");
  const model = await database.transaction(async (tx) => {
    const stored = await lockModel(tx, owner, name);
    if (!stored) throw projectNotFound();
    await change(tx, stored);
    await announceChange(tx, endpointId);
    const after = (await lockModel(tx, owner, name))?.model;
    await recordModel(tx, action, { before: stored.model, after, ...(reason !== undefined && { reason }) });
    return after;
  });
  memory.forget(endpointId);
  if (!model) throw projectNotFound();
  return model;
}
