import type { ModelDriver, OutputValue, TokenUsage } from "../../../engines/models/driver.ts";
import {
  base64OfVector,
  canBeStored,
  type EmbeddingCall,
  type EmbeddingDriver,
  vectorOfBase64,
} from "../../../engines/models/embeddings.ts";
import { fault } from "../../../kernel/errors.ts";
import type { Caller } from "../../accounts/index.ts";
import type { Model } from "../../models/index.ts";
import { hasTokenLimit } from "../admission/admit-predictions.ts";
import { chargedUsage } from "../admission/charge.rules.ts";
import { pricesInput, termsOfTexts } from "../admission/reserve.ts";
import type { Outcome, StoredOutput } from "../prediction.ts";
import type { Perform } from "./execute-prediction.ts";
import { type RunDeps, type RunRequest, runPrediction } from "./run-prediction.ts";

export interface EmbedRequest
  extends Pick<RunRequest, "predictionId" | "origin" | "onLive" | "onAccepted" | "mustBeCovered" | "setAside">,
    Pick<EmbeddingCall, "texts" | "dimensions" | "extra"> {
  caller: Caller;
  model: Model;
}

export interface Embedded {
  vectors: readonly Float32Array[];
  inputTokens: number;
}

export interface EmbedEnd {
  predictionId: string;
  outcome: Outcome;
  /** Set if the outcome is `done`. */
  embedded: Embedded | undefined;
}

/**
 * Asks a model for vectors. They are stored only if the id was promised, because then a repeat asks for them: an index of
 * a million texts would fill the database.
 */
export async function embed(deps: RunDeps, request: EmbedRequest): Promise<EmbedEnd> {
  const { texts, dimensions, extra, ...rest } = request;
  const { manifest } = request.model;
  const counted =
    pricesInput(manifest) || hasTokenLimit(request.caller) ? await deps.estimateTokens(texts.join("\n")) : undefined;
  const terms = termsOfTexts(manifest, counted ?? 0);
  let embedded: Embedded | undefined;
  const { predictionId, outcome } = await runPrediction(deps, {
    ...rest,
    route: "sync",
    door: "openai-embeddings",
    input: { input: {}, user: undefined },
    toKeep: () => keptTexts(request),
    terms,
    inputTokens: counted,
    perform: performEmbedding({ texts, dimensions, extra }, (vectors, usage) => {
      embedded = { vectors, inputTokens: chargedUsage(usage, terms.bounds).inputTokens };
      const isKept = request.predictionId !== undefined && canBeStored(vectors);
      return isKept ? storable(embedded) : {};
    }),
  });
  return { predictionId, outcome, embedded: outcome.kind === "done" ? embedded : undefined };
}

type Texts = Pick<EmbeddingCall, "texts" | "dimensions" | "extra">;

/** The input as it is kept with the result. */
export function keptTexts({ texts, dimensions }: Texts): Record<string, unknown> {
  return { input: texts, ...(dimensions !== undefined && { dimensions }) };
}

export function performEmbedding(
  { texts, dimensions, extra }: Texts,
  outputOf: (vectors: readonly Float32Array[], usage: TokenUsage) => Record<string, OutputValue>,
): Perform {
  return async (driver: ModelDriver & Partial<EmbeddingDriver>, { predictionId: id, signal, onBegun }, backend) => {
    if (!driver.embed) throw fault("downstream_service_error", "The model does not return vectors");
    const { vectors, usage } = await driver.embed({
      predictionId: id,
      texts,
      dimensions,
      // Fields of the protocol mean nothing to backends of other types.
      ...(backend.type === "openai-embeddings" && extra && { extra }),
      signal,
      onBegun,
    });
    return { output: outputOf(vectors, usage), usage };
  };
}

/** Base64 is a fifth of the vectors as JSON numbers. */
export function storable({ vectors, inputTokens }: Embedded) {
  return { embeddings: vectors.map(base64OfVector), input_tokens: inputTokens };
}

/** The stored vectors of a prediction with a promised id, for repeats. Undefined if they were too many to keep. */
export function storedEmbedding({ embeddings, input_tokens: tokens }: StoredOutput): Embedded | undefined {
  if (!Array.isArray(embeddings)) return undefined;
  const vectors = embeddings.flatMap((entry) => vectorOfBase64(String(entry)) ?? []);
  return { vectors, inputTokens: Number(tokens) };
}
