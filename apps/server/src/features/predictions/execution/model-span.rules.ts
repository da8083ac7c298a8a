import type { ListedBackend } from "@gantry/wire";
import type { InputValue, TokenUsage } from "../../../engines/models/driver.ts";
import type { Attributes, SpanOptions } from "../../../engines/telemetry/telemetry.ts";
import type { Model } from "../../models/index.ts";

/** Names of providers in OpenTelemetry's conventions for generative AI. */
const providers: Readonly<Record<string, string>> = {
  "openai-chat": "openai",
  "openai-images": "openai",
  "openai-embeddings": "openai",
  google: "gcp.gemini",
};

const operations: Readonly<Record<string, string>> = { text: "chat", embedding: "embeddings" };

/** The span of a call to a model's backend. Contains figures, never content. */
export function describeModelCall(
  { manifest, endpointId }: Model,
  { type, model, url, name: backend }: ListedBackend,
  input: Readonly<Record<string, InputValue>>,
  predictionId: string,
): SpanOptions {
  const operation = operations[manifest.kind] ?? "generate_content";
  const name = model ?? endpointId;
  const number = (field: string) => (typeof input[field] === "number" ? input[field] : undefined);
  return {
    name: `${operation} ${name}`,
    kind: "client",
    attributes: {
      "gen_ai.operation.name": operation,
      "gen_ai.provider.name": providers[type] ?? type,
      "gen_ai.request.model": name,
      "gen_ai.request.max_tokens": number("max_tokens"),
      "gen_ai.request.temperature": number("temperature"),
      "gen_ai.request.seed": number("seed"),
      "server.address": url === undefined ? undefined : URL.parse(url)?.hostname,
      "gantry.model": endpointId,
      "gantry.backend": manifest.backends ? backend : undefined,
      "gantry.prediction_id": predictionId,
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
