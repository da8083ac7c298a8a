import type { ListedBackend } from "@gantry/wire";
import type { InputValue, TokenUsage } from "../../../engines/models/driver.ts";
import type { Attributes, ModelCallFigures, SpanOptions } from "../../../engines/telemetry/telemetry.ts";
import type { Model } from "../../models/index.ts";

/** Names of providers in OpenTelemetry's conventions for generative AI. */
const providers: Readonly<Record<string, string>> = {
  "openai-chat": "openai",
  "openai-images": "openai",
  "openai-embeddings": "openai",
  google: "gcp.gemini",
};

const operations: Readonly<Record<string, string>> = { text: "chat", embedding: "embeddings" };

/** The call in metrics, which name neither users nor their models. */
export function figuresOfCall(
  { manifest }: Model,
  { type, model }: ListedBackend,
  usage: TokenUsage | undefined,
): ModelCallFigures {
  return {
    operation: operations[manifest.kind] ?? "generate_content",
    provider: providers[type] ?? type,
    model: model ?? "",
    inputTokens: usage?.inputTokens,
    outputTokens: usage?.outputTokens,
  };
}

/** The span of a call to a model's backend. Contains figures, never content. */
export function describeModelCall(
  called: Model,
  backend: ListedBackend,
  input: Readonly<Record<string, InputValue>>,
  { predictionId, runId }: { predictionId: string; runId: string | undefined },
): SpanOptions {
  const { operation, provider } = figuresOfCall(called, backend, undefined);
  const { manifest, endpointId } = called;
  const { url, model: name = endpointId } = backend;
  const number = (field: string) => (typeof input[field] === "number" ? input[field] : undefined);
  return {
    name: `${operation} ${name}`,
    kind: "client",
    attributes: {
      "gen_ai.operation.name": operation,
      "gen_ai.provider.name": provider,
      "gen_ai.request.model": name,
      "gen_ai.request.max_tokens": number("max_tokens"),
      "gen_ai.request.temperature": number("temperature"),
      "gen_ai.request.seed": number("seed"),
      "server.address": url === undefined ? undefined : URL.parse(url)?.hostname,
      "gantry.model": endpointId,
      "gantry.backend": manifest.backends ? backend.name : undefined,
      "gantry.prediction_id": predictionId,
      "gantry.run_id": runId,
    },
  };
}

export function usageAttributes(usage: TokenUsage | undefined): Attributes {
  if (!usage) return {};
  return {
    "gen_ai.usage.input_tokens": usage.inputTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cachedTokens,
    "gen_ai.usage.cache_creation.input_tokens": usage.cacheWriteTokens,
  };
}
