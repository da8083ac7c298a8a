import { Fault } from "../../../kernel/errors.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import type { Net } from "../../net/net.ts";
import type { ModelDriver, TokenUsage } from "../driver.ts";
import { countedUsage, readVectors, runByEmbedding } from "../embedding-driver.ts";
import type { EmbeddingCall, EmbeddingDriver, EmbeddingResult } from "../embeddings.ts";
import type { Mask } from "../mask.ts";
import { broken, joinUrl, requestJson, UpstreamFailure } from "../upstream.ts";

export interface OpenAiEmbeddingsOptions {
  net: Net;
  /** The base URL, without `/embeddings`. */
  url: string;
  model: string;
  key?: string | undefined;
  mask: Mask;
  /** Of one call, 3 by default. */
  tries?: number | undefined;
}

/** The model's time limit ends a call through its signal, so network timeouts must be longer. */
const day = 86_400_000;
const bytesOfText = 256 * 1024;
const mostBytes = 64 * 1024 * 1024;
/** Above the input limit of every known server. Larger counts are not believed. */
const mostTokens = 10_000_000;

/** OpenAI and compatible servers: vLLM, llama.cpp, Ollama, TEI, Infinity and others. */
export function createOpenAiEmbeddings(options: OpenAiEmbeddingsOptions): ModelDriver & EmbeddingDriver {
  const { net, model, key, mask, tries } = options;
  const url = joinUrl(options.url, "embeddings");
  /** Base64 is a fifth of the bytes. A few servers refuse the field, and many ignore it. */
  let asksForBase64 = true;

  function send({
    predictionId,
    texts,
    dimensions,
    extra,
    signal,
    onBegun,
  }: EmbeddingCall): Promise<{ json: unknown }> {
    return requestJson(net, {
      url,
      mask,
      signal,
      tries,
      onBegun,
      headers: {
        "content-type": "application/json",
        accept: "application/json",
        "idempotency-key": predictionId,
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({
        ...extra,
        model,
        input: texts,
        encoding_format: asksForBase64 ? "base64" : undefined,
        dimensions,
      }),
      bounds: { totalMs: day, headersMs: day, idleMs: day, maxBytes: mostBytesFor(texts.length) },
    });
  }

  async function embed(call: EmbeddingCall): Promise<EmbeddingResult> {
    const { json } = await send(call).catch((error: unknown) => {
      if (!asksForBase64 || !refusesFormat(error)) throw error;
      asksForBase64 = false;
      return send(call);
    });
    if (!isRecord(json) || !Array.isArray(json.data)) throw withoutData(json, mask);
    const vectors = await readVectors(inOrder(json.data), call.texts.length);
    return { vectors, usage: reportedUsage(json.usage) ?? (await countedUsage(call.texts)) };
  }

  return runByEmbedding({ embed });
}

function mostBytesFor(texts: number): number {
  return Math.min(mostBytes, 1024 * 1024 + texts * bytesOfText);
}

function refusesFormat(error: unknown): boolean {
  const failure = error instanceof Fault ? error.cause : undefined;
  if (!(failure instanceof UpstreamFailure)) return false;
  return (failure.status === 400 || failure.status === 422) && /encoding_format|base64/i.test(failure.body);
}

function withoutData(json: unknown, mask: Mask): Fault {
  if (isRecord(json) && json.error) {
    return broken(new UpstreamFailure({ status: 200, body: JSON.stringify(json.error), mask }));
  }
  return broken(new Error("The upstream's answer has no list of vectors"));
}

/** The vectors by their `index`. Servers that send none keep the order of the texts. */
function inOrder(data: readonly unknown[]): unknown[] {
  const entries = data.map((entry) => (isRecord(entry) ? entry : {}));
  if (entries.every(({ index }) => index === undefined)) return entries.map(({ embedding }) => embedding);
  const ordered: unknown[] = new Array(entries.length);
  const places = new Set<number>();
  for (const { index, embedding } of entries) {
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= entries.length) continue;
    places.add(index);
    ordered[index] = embedding;
  }
  if (places.size !== entries.length)
    throw broken(new Error("The upstream's vectors have missing or repeated indexes"));
  return ordered;
}

/** Undefined for a missing or impossible count. Some servers report 0 for every request. */
function reportedUsage(usage: unknown): TokenUsage | undefined {
  if (!isRecord(usage)) return undefined;
  const tokens = [usage.prompt_tokens, usage.total_tokens].find((count) => typeof count === "number" && count > 0);
  if (typeof tokens !== "number" || !Number.isInteger(tokens) || tokens > mostTokens) return undefined;
  return { inputTokens: tokens, outputTokens: 0 };
}
