import { expect, it } from "vitest";
import type { ReasoningEffort } from "../chat.ts";
import { thinkingConfig } from "./thinking.ts";

it.each<
  [model: string, effort: ReasoningEffort | undefined, maxTokens: number | undefined, config: object | undefined]
>([
  ["gemini-2.5-flash", "medium", undefined, { thinkingBudget: 8192, includeThoughts: true }],
  ["gemini-2.5-flash", "high", 8192, { thinkingBudget: 4096, includeThoughts: true }],
  ["gemini-2.5-flash", "low", 10, { thinkingBudget: 128, includeThoughts: true }],
  ["gemini-2.5-flash", "none", undefined, { thinkingBudget: 0 }],
  ["gemini-2.5-pro", "none", undefined, { thinkingBudget: 128 }],
  ["gemini-3.8-flash", "none", undefined, { thinkingLevel: "low", includeThoughts: false }],
  ["models/gemini-3-pro", "xhigh", 100, { thinkingLevel: "high", includeThoughts: true }],
  ["gemini-2.0-flash", "high", undefined, undefined],
  ["gemma-3", "high", undefined, undefined],
  ["gemini-3.8-flash", undefined, undefined, undefined],
])("%s thinks with the effort %s and a limit of %s", (model, reasoningEffort, maxTokens, config) => {
  const request = { id: "r", messages: [], signal: new AbortController().signal };
  const asked = { ...(reasoningEffort && { reasoningEffort }), ...(maxTokens && { maxTokens }) };
  expect(thinkingConfig(model, { ...request, ...asked })).toEqual(config);
});
