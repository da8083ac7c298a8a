import { mostEmbeddingInputs } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { type Caller, keyReaches } from "../accounts/index.ts";
import type { Model } from "../models/index.ts";
import type { EmbedEnd, EmbedRequest } from "../predictions/index.ts";
import type { DriveIndex, KnowledgeDeps } from "./knowledge.ts";
import { selectIndex } from "./store.ts";

type EmbedDeps = Pick<KnowledgeDeps, "models" | "predictions" | "accounts" | "database">;

/** Small enough for servers that accept few texts at once. */
const textsAtOnce = 32;
const mostDimensions = 4_096;

/** The model that the name stands for, if the owner of the drive may call it. Rejects with a sentence for the owner. */
export async function findEmbeddingModel(
  { models }: Pick<EmbedDeps, "models">,
  owner: Pick<Caller, "userId" | "models">,
  name: string,
): Promise<Model> {
  const endpointId = await models.targetOf(owner, name);
  const model = await models.getModel(endpointId);
  const mayCall = model && (model.manifest.visibility === "public" || model.ownerId === owner.userId);
  if (!model || !mayCall || model.isOwnerDisabled || !keyReaches(owner, endpointId)) {
    throw fault("not_found", `The model ${JSON.stringify(name)} does not exist, or the key may not call it.`);
  }
  if (model.manifest.kind !== "embedding") {
    const msg = `${JSON.stringify(name)} is a model of kind ${model.manifest.kind}. An index needs a model of kind embedding.`;
    throw fault("value_error", msg);
  }
  return model;
}

/** Texts of one call of the model. */
export function batchOf({ manifest }: Model): number {
  const field = manifest.input.properties.input;
  const most = isRecord(field) && typeof field.maxItems === "number" ? field.maxItems : mostEmbeddingInputs;
  return Math.max(1, Math.min(textsAtOnce, most));
}

/** For a run that searches: bounds of the charge, and who counts it. */
export interface RunCharge extends Pick<EmbedRequest, "mustBeCovered" | "setAside"> {
  /** Only if the caller pays, also if the call failed. */
  onCharged(outcome: EmbedEnd["outcome"]): void;
}

export interface QueryOptions {
  caller: Caller;
  signal?: AbortSignal | undefined;
  /** Asked when the signal is aborted: whether the call is repeated later. Then this one is not charged. */
  isHandedOn?: (() => boolean) | undefined;
  charge?: RunCharge | undefined;
}

export interface EmbedCall extends QueryOptions {
  model: Model;
  texts: readonly string[];
  signal: AbortSignal;
  /** Called if the model was called and failed, before the rejection. */
  onFailed?: (() => void) | undefined;
}

/** One prediction of the caller, admitted and charged like any other. Vectors have length 1. */
export async function embedTexts(
  { predictions }: Pick<EmbedDeps, "predictions">,
  { caller, model, texts, signal, isHandedOn, onFailed, charge }: EmbedCall,
): Promise<Float32Array[]> {
  signal.throwIfAborted();
  let leave: (() => void) | undefined;
  const { onCharged, ...bounds } = charge ?? {};
  const { outcome, embedded } = await predictions
    .embed({
      caller,
      model,
      texts,
      ...bounds,
      onLive: (live) => {
        leave = () => live.stop(isHandedOn?.() ? "shutdown" : "left");
        // Counting tokens takes time, in which the signal may have been aborted.
        if (signal.aborted) leave();
        else signal.addEventListener("abort", leave, { once: true });
      },
    })
    .finally(() => leave && signal.removeEventListener("abort", leave));
  onCharged?.(outcome);
  if (outcome.kind === "failed") {
    signal.throwIfAborted();
    // Unset if it was stopped while it waited for a slot.
    if (outcome.inferenceMs !== undefined) onFailed?.();
    throw outcome.fault;
  }
  if (embedded?.vectors.length !== texts.length) {
    throw fault("downstream_service_error", "The embedding model did not return one vector for each text.");
  }
  return embedded.vectors.map(normalised);
}

function normalised(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  if (vector.length > mostDimensions) {
    const most = mostDimensions.toLocaleString("en");
    throw fault("downstream_service_error", `The embedding model returned a vector of more than ${most} values.`);
  }
  if (!Number.isFinite(length)) {
    throw fault("downstream_service_error", "The embedding model returned a vector that cannot be stored.");
  }
  return length === 0 ? vector : vector.map((value) => value / length);
}

/**
 * The vector of a query, from the model that made the vectors of the drive. Undefined if the drive has no vectors. The caller
 * pays. If the model is private or the key of the caller may not call it, the owner of the drive pays.
 */
export async function embedQuery(
  deps: EmbedDeps,
  driveId: string,
  text: string,
  { caller, signal = new AbortController().signal, isHandedOn, charge }: QueryOptions,
): Promise<Float32Array | undefined> {
  const found = await queryModel(deps, driveId);
  if (!found) return undefined;
  const { index, model } = found;
  const payer = await payerOf(deps, index, model, caller);
  const [vector] = await embedTexts(deps, {
    caller: payer,
    model,
    texts: [text],
    signal,
    isHandedOn,
    charge: payer === caller ? charge : undefined,
  });
  if (vector?.length !== index.dimensions) {
    throw fault("conflict", "The embedding model returns vectors of another length than before. Rebuild the index.");
  }
  return vector;
}

/** The largest charge of a query to the caller, in micros. */
export async function mostQueryCost(deps: EmbedDeps, driveId: string, text: string, caller: Caller): Promise<number> {
  const found = await queryModel(deps, driveId);
  if (!found || (await payerOf(deps, found.index, found.model, caller)) !== caller) return 0;
  return deps.predictions.mostCost(found.model, { input: [text] });
}

/** Undefined if the drive has no vectors. */
async function queryModel(deps: EmbedDeps, driveId: string): Promise<{ index: DriveIndex; model: Model } | undefined> {
  const index = await selectIndex(deps.database.sql, driveId);
  if (!index?.endpointId || index.dimensions === null) return undefined;
  const owner = { userId: index.ownerId, models: null };
  return { index, model: await findEmbeddingModel(deps, owner, index.endpointId) };
}

async function payerOf(deps: EmbedDeps, index: DriveIndex, model: Model, caller: Caller): Promise<Caller> {
  const mayCall = model.manifest.visibility === "public" || model.ownerId === caller.userId;
  if (mayCall && keyReaches(caller, model.endpointId)) return caller;
  const owner = await deps.accounts.callerOfKey(index.keyId);
  if (!owner) throw fault("forbidden", "The API key that set up the index of this drive no longer works.");
  return owner;
}
