import { isRecord } from "../../../kernel/is-record.ts";
import type { ChatMessage, ReasoningEffort } from "../chat.ts";
import { listOf } from "../text/folded-object.ts";
import { refusesField } from "../text/refusals.rules.ts";
import type { TextRequest } from "../text/request.ts";
import type { UpstreamFailure } from "../upstream.ts";

/** What a model accepts, learned from its refusals and kept for later calls. */
export interface Adaptations {
  /** Older models take a budget for their thoughts, newer ones decide themselves, and some do not think. */
  thinking: "budget" | "adaptive" | "none";
  /** Newer models refuse `temperature`, `top_p` and `top_k`. */
  takesSampling: boolean;
}

export function createAdaptations(): Adaptations {
  return { thinking: "budget", takesSampling: true };
}

const samplingFields = ["temperature", "top_p", "top_k"];
/** Refusals of what is sent beside thoughts, by a model that thinks. */
const saysThinking = /thinking\W{0,2} (?:mode )?is enabled/i;

/** All callers of the model share what is learned, so refused values and combinations are not learned. */
export function learnFrom({ status, body }: UpstreamFailure, request: TextRequest, learned: Adaptations): void {
  if (status !== 400 || request.native || saysThinking.test(body)) return;
  const content = JSON.stringify([request.messages, request.tools ?? [], Object.values(request.extra ?? {})]);
  if (samplingFields.some((field) => !content.includes(field) && refusesField(body, field))) {
    learned.takesSampling = false;
  }
  if (request.reasoningEffort === undefined || !refusesField(body, "thinking")) return;
  learned.thinking = learned.thinking === "budget" && /\badaptive\b/.test(body) ? "adaptive" : "none";
}

const budgets: Readonly<Record<Exclude<ReasoningEffort, "none">, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_768,
};
const leastBudget = 1024;

/** Undefined if the request does not ask for thoughts, or if the API would refuse them. */
export function thinkingFields(
  { reasoningEffort: effort, messages }: TextRequest,
  { maxTokens, toolChoice }: { maxTokens: number; toolChoice: TextRequest["toolChoice"] },
  learned: Adaptations,
): Record<string, unknown> | undefined {
  if (effort === undefined || effort === "none" || learned.thinking === "none") return undefined;
  // A forced call cannot be thought about.
  if (typeof toolChoice === "object" || toolChoice === "required") return undefined;
  if (learned.thinking === "adaptive") {
    return { thinking: { type: "adaptive" }, output_config: { effort: effort === "minimal" ? "low" : effort } };
  }
  // Half of the limit stays for the answer.
  const budget = Math.min(budgets[effort], Math.floor(maxTokens / 2));
  if (budget < leastBudget || continuesWithoutThoughts(messages)) return undefined;
  return { thinking: { type: "enabled", budget_tokens: budget } };
}

/** After tool results, a model with a budget must get its thoughts before the calls back. */
function continuesWithoutThoughts(messages: readonly ChatMessage[]): boolean {
  const last = messages.findLast(({ role }) => role !== "tool");
  if (messages.at(-1)?.role !== "tool" || last?.role !== "assistant") return false;
  const { opaque } = last;
  const content = isRecord(opaque) && opaque.protocol === "anthropic" ? listOf(opaque.content) : [];
  return !content.some((block) => isRecord(block) && /thinking$/.test(String(block.type)));
}
