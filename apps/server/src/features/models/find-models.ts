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
  /** A part of the endpoint id or of the title, in any case of letters. */
  q?: string | undefined;
  /** Public models of other users are left out, unless the key names them. */
  withoutOthers?: boolean;
}

/** The models that the caller may call, by endpoint id. */
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

export function projectNotFound(): Fault {
  return fault("not_found", "Project not found");
}

function noAccess(): Fault {
  return fault("forbidden", "API key does not have access to the project");
}

/** What can be no endpoint id never reaches the database. */
export function canBeEndpointId(text: string): boolean {
  const slash = text.indexOf("/");
  return usernamePattern.test(text.slice(0, slash)) && modelNamePattern.test(text.slice(slash + 1));
}

/** The live model of an endpoint id, also a disabled owner's; from memory where it was asked for lately. */
export async function getModel({ memory }: ModelsContext, endpointId: string): Promise<Model | undefined> {
  return canBeEndpointId(endpointId) ? memory.get(endpointId) : undefined;
}

/** A model whose card, schema, queue or files the caller asks for: 404, then 403 access. It need not be active. */
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
 * The model of a run that was accepted: who began one may look after it although the model was made private since, or its
 * owner disabled, or it was retired, and then there is none.
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

/** A model that the caller wants to run, in the order of refusals: 404, 403 access, 403 not active. */
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
  if (!mayChange(caller, owner)) throw fault("forbidden", "Only its owner or an admin may change a model");
}
