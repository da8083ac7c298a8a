import { modelNamePattern, usernamePattern } from "@gantry/wire";
import { type Fault, fault } from "../../kernel/errors.ts";
import { type Caller, keyReaches, type Page } from "../accounts/index.ts";
import { mayCall, mayChange } from "./access.rules.ts";
import type { ModelsContext } from "./context.ts";
import type { Model } from "./model.ts";
import { findModels, listPage } from "./store.ts";

export interface ListModelsQuery {
  limit: number;
  offset: number;
  kind?: string | undefined;
  /** Part of the endpoint id or title, case-insensitive. */
  q?: string | undefined;
  /** Omits public models of other users, unless the key names them. */
  withoutOthers?: boolean;
}

/** Models that the caller may call, sorted by endpoint id. */
export async function listModels(
  { database }: ModelsContext,
  caller: Caller,
  { limit, offset, kind, q, withoutOthers = false }: ListModelsQuery,
): Promise<Page<Model>> {
  const filter = {
    userId: caller.userId,
    reach: caller.models,
    kind,
    q,
    withoutOthers: withoutOthers && caller.models === null,
  };
  return listPage(database.sql, filter, limit, offset);
}

/** Which of the models the caller may call, active or not. One query, not cached. */
export async function callableAmong(
  { database }: ModelsContext,
  caller: Pick<Caller, "userId" | "models">,
  endpointIds: readonly string[],
): Promise<ReadonlyMap<string, Model>> {
  const found = await findModels(database.sql, endpointIds.filter(canBeEndpointId));
  const callable = found.filter((model) => !model.isOwnerDisabled && mayCall(caller, model));
  return new Map(callable.map((model) => [model.endpointId, model]));
}

export function projectNotFound(): Fault {
  return fault("not_found", "Project not found");
}

function noAccess(): Fault {
  return fault("forbidden", "API key does not have access to the project");
}

/** Other text never reaches the database. */
export function canBeEndpointId(text: string): boolean {
  const slash = text.indexOf("/");
  return usernamePattern.test(text.slice(0, slash)) && modelNamePattern.test(text.slice(slash + 1));
}

/** The live model, cached, also of a disabled owner. */
export async function getModel({ memory }: ModelsContext, endpointId: string): Promise<Model | undefined> {
  return canBeEndpointId(endpointId) ? memory.get(endpointId) : undefined;
}

/** For the card, schema, queue or files of a model, active or not. Order of errors: 404, 403. */
export async function resolveForRead(
  context: ModelsContext,
  caller: Caller,
  owner: string,
  name: string,
): Promise<Model> {
  const model = await getModel(context, `${owner}/${name}`);
  if (!model || model.isOwnerDisabled) throw projectNotFound();
  if (!mayCall(caller, model)) throw noAccess();
  return model;
}

/**
 * The model of an accepted prediction. Its caller keeps access if the model became private, its owner was disabled, or it
 * was retired (undefined).
 */
export async function resolveForRun(
  context: ModelsContext,
  caller: Caller,
  owner: string,
  name: string,
  isOwnRun: () => Promise<boolean>,
): Promise<Model | undefined> {
  const endpointId = `${owner}/${name}`;
  const model = await getModel(context, endpointId);
  const isThere = model !== undefined && !model.isOwnerDisabled;
  if (isThere && mayCall(caller, model)) return model;
  if (canBeEndpointId(endpointId) && keyReaches(caller, endpointId) && (await isOwnRun())) return model;
  throw isThere ? noAccess() : projectNotFound();
}

/** For running a model. Order of errors: 404, 403 no access, 403 not active. */
export async function resolveForCall(
  context: ModelsContext,
  caller: Caller,
  owner: string,
  name: string,
): Promise<Model> {
  const model = await resolveForRead(context, caller, owner, name);
  if (model.manifest.capacity === 0) throw fault("forbidden", "Project is not active");
  return model;
}

export function refuseUnlessChangeable(caller: Caller, owner: string): void {
  if (!mayChange(caller, owner)) throw fault("forbidden", "Only the owner of a model or an admin may change it");
}
