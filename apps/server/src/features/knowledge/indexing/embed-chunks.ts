import { Fault } from "../../../kernel/errors.ts";
import type { Caller } from "../../accounts/index.ts";
import type { Model } from "../../models/index.ts";
import { batchOf, type EmbedCall, embedTexts, findEmbeddingModel } from "../embed.ts";
import type { DriveIndex, KnowledgeDeps } from "../knowledge.ts";
import { restartIndex } from "../settings.ts";
import { selectVectors, settleModel, storeVectors } from "./chunk-store.ts";
import type { ClaimedFile } from "./claim-store.ts";
import { ClaimLost, FileFailure, IndexPaused, keyGone, mayBeCausedByTexts, modelGone } from "./outcome.rules.ts";

interface HashedText {
  text: string;
  hash: string;
}

/**
 * The vectors of the texts, by their hashes. Each batch is one prediction with the index's key, stored before the next:
 * after a crash only the batch under way is paid for twice.
 */
export async function embedChunks(
  deps: KnowledgeDeps,
  file: ClaimedFile,
  texts: readonly HashedText[],
  signal: AbortSignal,
): Promise<Map<string, Uint8Array>> {
  const { sql } = deps.database;
  const vectors = await selectVectors(sql, file);
  const missing = [...new Map(texts.filter(({ hash }) => !vectors.has(hash)).map((one) => [one.hash, one])).values()];
  if (missing.length === 0) return vectors;
  const { model } = await modelOf(deps, file);
  for (let from = 0, batch = batchOf(model); from < missing.length; from += batch) {
    // The key or the model may have been changed since the last batch.
    const call = await modelOf(deps, file);
    const part = missing.slice(from, from + batch);
    // The signal is aborted only when the server stops. A node then repeats the call.
    const asked = { ...call, texts: part.map(({ text }) => text), signal, isHandedOn: () => true };
    // After a batch was stored, the backend may have failed meanwhile. The next attempt begins with the failed one.
    const made = await (from === 0 ? embedOrBlame(deps, asked) : embedTexts(deps, asked));
    await checkModel(deps, file, call.model, made);
    const rows = part.map(({ hash }, n) => ({ hash, embedding: bytesOf(made[n] ?? new Float32Array()) }));
    if (!(await storeVectors(sql, file, rows))) throw new ClaimLost();
    for (const { hash, embedding } of rows) vectors.set(hash, embedding);
  }
  return vectors;
}

const probe = ["text"];

/**
 * Rejects with `FileFailure` if the model fails for these texts but embeds a word. Only calls that succeed are charged, so
 * a file that fails has cost at most one word for each attempt.
 */
async function embedOrBlame(deps: KnowledgeDeps, call: EmbedCall): Promise<Float32Array[]> {
  let isModelsFailure = false;
  const onFailed = () => {
    isModelsFailure = true;
  };
  return embedTexts(deps, { ...call, onFailed }).catch(async (error: unknown) => {
    if (!isModelsFailure || !mayBeCausedByTexts(error)) throw error;
    const isUp = await embedTexts(deps, { ...call, texts: probe }).then(
      () => true,
      () => false,
    );
    throw isUp ? new FileFailure(error) : error;
  });
}

async function modelOf(deps: KnowledgeDeps, { index }: ClaimedFile): Promise<{ caller: Caller; model: Model }> {
  const caller = await deps.accounts.callerOfKey(index.keyId);
  if (!caller) throw keyGone();
  const model = await findEmbeddingModel(deps, caller, index.embeddingModel ?? "").catch((error: unknown) => {
    throw error instanceof Fault && !error.retryable ? modelGone(error.message) : error;
  });
  if (index.endpointId !== null && index.endpointId !== model.endpointId) await startAgain(deps, index);
  return { caller, model };
}

/** The alias stands for another model now, whose vectors cannot be compared with the earlier ones. */
async function startAgain(deps: KnowledgeDeps, index: DriveIndex): Promise<never> {
  await restartIndex(deps.database, index);
  throw new ClaimLost();
}

async function checkModel(
  deps: KnowledgeDeps,
  { index }: ClaimedFile,
  { endpointId }: Model,
  [first]: readonly Float32Array[],
): Promise<void> {
  const dimensions = first?.length ?? 0;
  const settled = await settleModel(deps.database.sql, index, { endpointId, dimensions });
  if (!settled) throw new ClaimLost();
  if (settled.endpointId !== endpointId) await startAgain(deps, index);
  if (settled.dimensions !== dimensions) {
    const change = `vectors of length ${dimensions} instead of ${settled.dimensions}`;
    throw new IndexPaused(`The embedding model now returns ${change}. Rebuild the index.`, null);
  }
}

/** Little-endian, like every machine that Gantry runs on. */
function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return Buffer.from(buffer, byteOffset, byteLength);
}
