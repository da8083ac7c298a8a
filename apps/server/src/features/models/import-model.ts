import { isDeepStrictEqual } from "node:util";
import type { ImportResult, Manifest } from "@gantry/wire";
import type { Transaction } from "../../engines/database/database.ts";
import { Fault, type Issue } from "../../kernel/errors.ts";
import { takenDownConflict } from "./change-model.ts";
import type { ModelsContext } from "./context.ts";
import {
  countImported,
  type ImportedName,
  lockImports,
  type NamedModel,
  type Origin,
  rememberImport,
  selectImportedNames,
  selectNamed,
} from "./import-store.ts";
import { checkManifest, reseeded } from "./manifest.rules.ts";
import { recordModel } from "./record-model.ts";
import { isTakenDown, keepPrivate, lockModel, updateModel, upsertModel } from "./store.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface ModelImport {
  origin: Origin & { owner: string };
  /** As the upstream describes it. Called with the manifest of the last import. */
  manifest(before: Manifest | undefined): Fields;
  /** Fields that the caller has chosen. They win over edits, and later imports keep them. */
  chosen: Partial<Manifest>;
  name: string;
  /** Why the model cannot be created like this. */
  refusal?(manifest: Manifest): string | undefined;
}

/**
 * Creates a model, or updates the one that was imported before. Fields follow the upstream, except those that were edited
 * since the last import.
 */
export async function importModel(context: ModelsContext, wanted: ModelImport): Promise<ImportResult> {
  const { owner, upstreamId } = wanted.origin;
  try {
    const result = await context.database.transaction((tx) => importOne(tx, wanted));
    context.memory.forget(`${owner}/${wanted.name}`);
    return result;
  } catch (error) {
    // Another request has created or changed a model of that name meanwhile.
    if (!(error instanceof Fault)) throw error;
    return { id: upstreamId, endpoint_id: null, outcome: "failed", kept: [], message: error.message };
  }
}

async function importOne(tx: Transaction, wanted: ModelImport): Promise<ImportResult> {
  const { name, origin } = wanted;
  const { ownerId, provider, upstreamId, owner } = origin;
  await lockImports(tx, ownerId);
  const named = await selectNamed(tx, ownerId, name);
  const base = { id: upstreamId, endpoint_id: `${owner}/${name}`, kept: [], message: null };
  if (named && !(named.provider === provider && named.upstreamId === upstreamId)) {
    const message = takenSentence(base.endpoint_id, named, provider);
    return { ...base, endpoint_id: null, outcome: "failed", message };
  }
  return named ? update(tx, wanted, base, named) : create(tx, wanted, base);
}

type Base = Omit<ImportResult, "outcome">;

async function create(tx: Transaction, wanted: ModelImport, base: Base): Promise<ImportResult> {
  const { name } = wanted;
  const failed = (message: string): ImportResult => ({ ...base, endpoint_id: null, outcome: "failed", message });
  const shipped = checkManifest(name, wanted.manifest(undefined));
  if (!shipped.manifest) return failed(sentenceOf(shipped.issues));
  const { manifest, issues } = checkManifest(name, { ...shipped.manifest, ...wanted.chosen });
  if (!manifest) return failed(sentenceOf(issues));
  const refusal = wanted.refusal?.(manifest);
  if (refusal !== undefined) return failed(refusal);
  const { ownerId } = wanted.origin;
  const isHidden = await isTakenDown(tx, ownerId, name);
  if (isHidden && wanted.chosen.visibility === "public") return failed(takenDownConflict("model").message);
  const hidden: Manifest = isHidden ? { ...manifest, visibility: "private" } : manifest;
  const stored = await upsertModel(tx, ownerId, name, hidden, manifest.visibility);
  if (stored.version !== 1) throw takenNow(`${wanted.origin.owner}/${name}`);
  await rememberImport(tx, stored.id, wanted.origin, shipped.manifest);
  await recordModel(tx, "model.import", { after: stored });
  return { ...base, outcome: "created" };
}

async function update(tx: Transaction, wanted: ModelImport, base: Base, named: NamedModel): Promise<ImportResult> {
  const { name } = wanted;
  const failed = (message: string): ImportResult => ({ ...base, outcome: "failed", message });
  const locked = await lockModel(tx, wanted.origin.owner, name);
  if (!locked || !named.imported) throw takenNow(base.endpoint_id ?? name);
  const { model } = locked;
  const shipped = checkManifest(name, wanted.manifest(named.imported));
  if (!shipped.manifest) return failed(sentenceOf(shipped.issues));
  if (model.takenDown && wanted.chosen.visibility === "public") return failed(takenDownConflict("model").message);
  const merged = { ...mergedBackends(model.manifest, named.imported, shipped.manifest), ...wanted.chosen };
  const { manifest, issues } = checkManifest(name, merged);
  if (!manifest) return failed(sentenceOf(issues));
  const kept = keptFields(manifest, shipped.manifest, wanted.chosen);
  if (wanted.chosen.visibility === "private") await keepPrivate(tx, model.id);
  const isChanged = !isDeepStrictEqual(manifest, model.manifest);
  const after = isChanged ? await updateModel(tx, model.id, manifest, locked.seeded) : model;
  if (isChanged || !isDeepStrictEqual(named.imported, shipped.manifest)) {
    await rememberImport(tx, model.id, wanted.origin, shipped.manifest);
  }
  if (isChanged) await recordModel(tx, "model.import", { before: model, after });
  return { ...base, outcome: isChanged ? "updated" : "unchanged", kept };
}

/** A model whose owner has given it several backends has no single one that could follow the provider. */
function mergedBackends(stored: Manifest, before: Manifest, now: Manifest): Fields {
  const merged = reseeded(stored, before, now, isDeepStrictEqual);
  if (stored.backends) delete merged.backend;
  return merged;
}

/** Fields that an owner has edited and in which the upstream has something else. */
function keptFields(manifest: Manifest, now: Manifest, chosen: Partial<Manifest>): string[] {
  const fields = Object.keys({ ...now, ...manifest }) as (keyof Manifest)[];
  return fields.filter((field) => !Object.hasOwn(chosen, field) && !isDeepStrictEqual(manifest[field], now[field]));
}

function takenSentence(endpointId: string, { provider, upstreamId }: NamedModel, wanted: string): string {
  const from =
    provider === null
      ? "was not imported from a provider"
      : provider === wanted
        ? `was imported from "${upstreamId}"`
        : `was imported from the provider ${provider}`;
  return `A model ${endpointId} exists and ${from}. Choose another name.`;
}

function takenNow(endpointId: string): Fault {
  const msg = `Another request has changed ${endpointId} meanwhile. Import it again.`;
  return new Fault([{ type: "conflict", loc: ["body"], msg }]);
}

function sentenceOf([issue]: readonly Issue[]): string {
  const field = issue?.loc.slice(1).join(".");
  return `The model's manifest is not valid${field ? ` at ${field}` : ""}: ${issue?.msg}.`;
}

/** Models that were imported from a provider and still exist. */
export function importedModels(
  { database }: ModelsContext,
  ownerId: string,
  provider: string,
): Promise<ImportedName[]> {
  return selectImportedNames(database.sql, ownerId, provider);
}

/** The number of live imported models by provider. */
export function importedByProvider({ database }: ModelsContext, ownerId: string): Promise<ReadonlyMap<string, number>> {
  return countImported(database.sql, ownerId);
}
