import type { TokenUsage } from "./driver.ts";

export interface EmbeddingCall {
  predictionId: string;
  texts: readonly string[];
  dimensions?: number | undefined;
  /** Further fields, copied into the upstream's body by name. */
  extra?: Readonly<Record<string, unknown>>;
  signal: AbortSignal;
  /** See `ModelCall`. */
  onBegun?: (() => void) | undefined;
}

export interface EmbeddingResult {
  /** One for each text, in order. All have the same length. */
  vectors: readonly Float32Array[];
  usage: TokenUsage;
}

/** The driver of a model of kind `embedding`. `run` of the same driver has `input` and `embeddings` as fields. */
export interface EmbeddingDriver {
  embed(call: EmbeddingCall): Promise<EmbeddingResult>;
}

/** Numbers in the stored result of a prediction. As JSON they take about 20 bytes each. */
export const mostStoredNumbers = 524_288;

export function canBeStored(vectors: readonly Float32Array[]): boolean {
  return vectors.length * (vectors[0]?.length ?? 0) <= mostStoredNumbers;
}

/** 32-bit floats, little-endian like every machine that Gantry runs on, as in the OpenAI API. */
export function base64OfVector({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

/** Undefined for a text that is not base64 of 32-bit floats. */
export function vectorOfBase64(text: string): Float32Array | undefined {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length % 4 !== 0 || bytes.length !== Buffer.byteLength(text, "base64")) return undefined;
  // A copy, because a small buffer begins anywhere in a shared one.
  return new Float32Array(new Uint8Array(bytes).buffer);
}
