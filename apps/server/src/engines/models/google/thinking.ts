import type { ReasoningEffort } from "../chat.ts";
import type { TextRequest } from "../text/request.ts";

/** Models of version 2.5 take a budget of tokens, later ones a level. Earlier ones do not think. */
const takesBudget = /gemini-2\.5/;
const takesLevel = /gemini-(?:[3-9]|\d{2})/;

const budgets: Readonly<Record<Exclude<ReasoningEffort, "none">, number>> = {
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
};
/** The large models cannot be asked not to think. */
const leastBudget = 128;

/** All models of later versions have these levels. */
const levels: Readonly<Record<ReasoningEffort, string>> = {
  none: "low",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
};

export function thinkingConfig(
  model: string,
  { reasoningEffort: effort, maxTokens = Number.POSITIVE_INFINITY }: TextRequest,
): Record<string, unknown> | undefined {
  if (effort === undefined) return undefined;
  if (takesLevel.test(model)) return { thinkingLevel: levels[effort], includeThoughts: effort !== "none" };
  if (!takesBudget.test(model)) return undefined;
  if (effort === "none") return { thinkingBudget: model.includes("pro") ? leastBudget : 0 };
  // Half of the limit stays for the answer.
  const budget = Math.max(leastBudget, Math.min(budgets[effort], Math.floor(maxTokens / 2)));
  return { thinkingBudget: budget, includeThoughts: true };
}
