import { isRecord } from "../../../kernel/is-record.ts";
import type { NativeRequest } from "../chat.ts";
import type { Adaptations } from "./chat-adaptations.ts";

/** The client's body with the model's name, the output limit and the request for usage. */
export function nativeBody(
  model: string,
  { body, stream }: NativeRequest,
  maxTokens: number | undefined,
  learned: Adaptations,
): string {
  const { max_tokens, max_completion_tokens, stream_options, ...others } = body;
  const options = isRecord(stream_options) ? stream_options : {};
  return JSON.stringify({
    ...others,
    model,
    stream,
    ...(stream && learned.reportsUsage && { stream_options: { ...options, include_usage: true } }),
    ...limitFields({ max_tokens, max_completion_tokens }, maxTokens, learned),
  });
}

/** The client's limit keeps its name, unless the server refuses that name. */
function limitFields(
  given: Record<Adaptations["maxTokensField"], unknown>,
  maxTokens: number | undefined,
  { maxTokensField, refusedLimits }: Adaptations,
): Record<string, unknown> {
  const { max_tokens: older, max_completion_tokens: newer } = given;
  if (older == null && newer == null) return { [maxTokensField]: maxTokens };
  const bounded = (limit: unknown) => {
    if (limit == null) return undefined;
    return typeof limit === "number" && (maxTokens === undefined || limit < maxTokens) ? limit : maxTokens;
  };
  if (maxTokensField === "max_completion_tokens") return { max_completion_tokens: bounded(newer ?? older) };
  if (refusedLimits.has("max_completion_tokens")) return { max_tokens: bounded(newer ?? older) };
  return { max_tokens: bounded(older), max_completion_tokens: bounded(newer) };
}
