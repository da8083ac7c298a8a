import type { FieldSchema } from "@gantry/wire";
import { expect, test } from "vitest";
import type { InputValue } from "../../../engines/models/driver.ts";
import { answerLimit, termsFor, termsOfChat, withinTerms } from "./reserve.ts";

const manifest = (type: string, max_tokens: FieldSchema) => ({
  input: { type: "object" as const, properties: { max_tokens } },
  backend: { type },
  pricing: {},
});

test.each<[what: string, FieldSchema, asked: number | undefined, limit: number | undefined]>([
  ["the model's default", { default: 9000 }, undefined, 9000],
  ["the model's default, were it shorter than usual", { default: 300 }, undefined, 300],
  ["the model's maximum below the usual length", { default: null, maximum: 2000 }, undefined, 2000],
  ["nothing where the model says nothing", { maximum: 64_000 }, undefined, undefined],
  ["what is asked for, where that is less", { default: 9000 }, 50, 50],
])("an answer of Claude's to an agent is bounded by %s", (_, maxTokens, asked, limit) => {
  expect(answerLimit(manifest("anthropic", maxTokens), asked)).toBe(limit);
});

test("backends without a required limit are bounded only by the request", () => {
  expect(answerLimit(manifest("openai-chat", { default: 300 }), undefined)).toBe(undefined);
  expect(answerLimit(manifest("google", { default: 300 }), 900)).toBe(900);
});

test("priced output tokens are bounded by the usual length or a longer default", () => {
  const priced = (usual: number) => ({
    ...manifest("openai-chat", { default: usual }),
    pricing: { per_million_output_tokens: 1 },
  });
  expect(answerLimit(priced(300), undefined)).toBe(4096);
  expect(answerLimit(priced(16_000), undefined)).toBe(16_000);
  expect(answerLimit(priced(300), 900)).toBe(900);
});

const object = (properties: Record<string, FieldSchema>) => ({ type: "object" as const, properties });
const image: FieldSchema = { type: "string", format: "binary", "x-media": "image" };
const video: FieldSchema = { type: "string", format: "binary", "x-media": "video" };
const model = {
  pricing: { per_million_input_tokens: 1, per_million_output_tokens: 1, per_output: 1 },
  backend: { type: "openai-chat" },
  timeout_seconds: 60,
  context_window: 8000,
  input: object({ prompt: { type: "string" }, image, mask: image, clip: video }),
  output: object({ output: { type: "string", isStream: true } }),
};
const counted = async () => 100;
/** 100 counted tokens, plus a quarter, plus 64. */
const ofText = 189;

test.each<[what: string, input: Record<string, InputValue>, tokens: number]>([
  ["text", { prompt: "x" }, ofText],
  ["two images", { prompt: "x", image: "https://a", mask: "https://b" }, ofText + 3200],
  ["an image that is not given", { prompt: "x", image: null }, ofText],
  ["a document: the whole window", { prompt: "x", clip: "https://a" }, ofText + 8000],
  ["a tool of the caller", { prompt: "x", tools: [{ type: "function" }] }, ofText],
  ["a tool of the upstream", { prompt: "x", tools: [{ type: "web_search_20250305" }] }, ofText + 8000],
  ["a search of the upstream", { prompt: "x", web_search_options: {} }, ofText + 8000],
])("input reserves %s", async (_, input, inputTokens) => {
  expect(await termsFor(model, input, counted)).toMatchObject({ bounds: { inputTokens } });
});

test.each<[what: string, change: object, input: Record<string, InputValue>, bounds: object]>([
  ["one output where none is a file", {}, {}, { outputs: 1, outputTokens: 4096 }],
  [
    "as many as there are file fields",
    { output: object({ a: image, b: image }) },
    {},
    { outputs: 2, outputTokens: 16_384 },
  ],
  [
    "as few as the images API is asked for",
    { output: object({ a: image, b: image }), backend: { type: "openai-images" } },
    { n: 1 },
    { outputs: 1, outputTokens: 8192 },
  ],
  ["the tokens that are asked for", {}, { max_tokens: 50 }, { outputTokens: 50 }],
  ["the same by another name", {}, { max_new_tokens: 9000 }, { outputTokens: 9000 }],
  ["the time limit", {}, {}, { seconds: 60 }],
])("output reserves %s", async (_, change, input, bounds) => {
  expect(await termsFor({ ...model, ...change }, input, counted)).toMatchObject({ bounds });
});

test("priced answers are limited upstream to the reservation", () => {
  const terms = termsOfChat(model, { inputTokens: 1, maxTokens: undefined });
  const cases: [type: string, pricing: object, input: Record<string, InputValue>, sent: object][] = [
    ["openai-chat", terms.pricing, {}, { max_tokens: 4096 }],
    ["openai-chat", terms.pricing, { max_tokens: 0 }, { max_tokens: 4096 }],
    ["openai-chat", terms.pricing, { max_completion_tokens: 4096 }, { max_completion_tokens: 4096 }],
    ["openai-chat", terms.pricing, { max_completion_tokens: 0 }, { max_completion_tokens: 0, max_tokens: 4096 }],
    ["openai-chat", {}, {}, {}],
    // Backends that receive inputs by name would refuse an unknown name.
    ["cog", terms.pricing, {}, {}],
  ];
  for (const [type, pricing, input, sent] of cases) {
    expect(withinTerms({ ...terms, pricing }, { type }, input)).toEqual(sent);
  }
});
