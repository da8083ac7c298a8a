import { setImmediate as nextTick } from "node:timers/promises";
import { fault } from "../../kernel/errors.ts";
import type { InputValue, ModelCall, ModelDriver, TokenUsage } from "./driver.ts";
import { canBeStored, type EmbeddingDriver, mostStoredNumbers, vectorOfBase64 } from "./embeddings.ts";
import { estimateTokens } from "./token-count.ts";
import { broken } from "./upstream.ts";

/** The prediction interface of a driver that embeds. */
export function runByEmbedding({ embed }: EmbeddingDriver): ModelDriver & EmbeddingDriver {
  return {
    embed,
    async run({ predictionId, input: { input, dimensions, ...extra }, signal, onBegun }) {
      const texts = textsOf(input);
      const asked = { texts, dimensions: lengthOf(dimensions), extra };
      const { vectors, usage } = await embed({ predictionId, ...asked, signal, onBegun });
      if (!canBeStored(vectors)) throw tooManyNumbers();
      return { output: { embeddings: vectors.map((vector) => Array.from(vector)) }, usage };
    },
  };
}

/** The embedding interface of a driver that knows predictions only. */
export function embedByRunning({ run }: ModelDriver): ModelDriver & EmbeddingDriver {
  const embedded = async (call: ModelCall, texts: readonly string[]) => {
    const { output, usage } = await run(call);
    const { embeddings } = output;
    const vectors = await readVectors(Array.isArray(embeddings) ? embeddings : [], texts.length);
    return { output, vectors, usage: usage ?? (await countedUsage(texts)) };
  };
  return {
    async run(call) {
      const { output, usage } = await embedded(call, textsOf(call.input.input));
      return { output, usage };
    },
    async embed({ predictionId, texts, dimensions, extra, signal, onBegun }) {
      const input = { ...extra, input: texts, ...(dimensions !== undefined && { dimensions }) };
      const call = { predictionId, input: input as Record<string, InputValue>, signal, onFragment() {}, onBegun };
      const { vectors, usage } = await embedded(call, texts);
      return { vectors, usage };
    },
  };
}

function textsOf(input: unknown): readonly string[] {
  const texts: readonly unknown[] = Array.isArray(input) ? input : [input];
  if (texts.length > 0 && texts.every((text) => typeof text === "string")) return texts;
  throw fault("string_type", "Input should be a list of texts", { loc: ["body", "input"] });
}

function lengthOf(dimensions: unknown): number | undefined {
  return typeof dimensions === "number" ? dimensions : undefined;
}

/** Vectors of a large answer are read in slices of this many numbers, so that the event loop stays free. */
const numbersAtOnce = 65_536;

/** Reads vectors as lists of numbers or as base64 of 32-bit floats. Rejects if they do not fit the texts. */
export async function readVectors(entries: readonly unknown[], texts: number): Promise<Float32Array[]> {
  if (entries.length !== texts) throw invalid(`The upstream sent ${entries.length} vectors for ${texts} texts`);
  const vectors: Float32Array[] = [];
  let numbers = 0;
  for (const entry of entries) {
    const vector = typeof entry === "string" ? ofBase64(entry) : ofNumbers(entry);
    if (vector.length === 0 || vector.length !== (vectors[0] ?? vector).length) {
      throw invalid("The upstream sent vectors that are empty or differ in length");
    }
    if (!hasFiniteNumbers(vector))
      throw invalid("The upstream sent a vector with an entry that is not a finite number");
    vectors.push(vector);
    numbers += vector.length;
    if (numbers < numbersAtOnce) continue;
    numbers = 0;
    await nextTick();
  }
  return vectors;
}

/** A loop, because a callback for each of millions of numbers takes several times as long. */
function hasFiniteNumbers(vector: Float32Array): boolean {
  for (let n = 0; n < vector.length; n++) if (!Number.isFinite(vector[n])) return false;
  return true;
}

function ofBase64(text: string): Float32Array {
  const vector = vectorOfBase64(text);
  if (!vector) throw invalid("The upstream sent a vector that is not base64 of 32-bit floats");
  return vector;
}

function ofNumbers(entry: unknown): Float32Array {
  if (!Array.isArray(entry) || !entry.every((number) => typeof number === "number")) {
    throw invalid("The upstream sent a vector that is not a list of numbers");
  }
  return Float32Array.from(entry);
}

export async function countedUsage(texts: readonly string[]): Promise<TokenUsage> {
  return { inputTokens: await estimateTokens(texts.join("\n")), outputTokens: 0, estimated: true };
}

function invalid(reason: string) {
  return broken(new Error(reason), "The service behind the model sent vectors that do not fit the request.");
}

function tooManyNumbers() {
  return fault(
    "sequence_too_long",
    `The vectors have more than ${mostStoredNumbers} numbers. Send fewer texts, or call POST /v1/embeddings.`,
    { loc: ["body", "input"], ctx: { max_length: mostStoredNumbers } },
  );
}
