import type { FieldSchema } from "@gantry/wire";
import { expect, test } from "vitest";
import { answerLimit } from "./reserve.ts";

const manifest = (type: string, max_tokens: FieldSchema) => ({
  input: { type: "object" as const, properties: { max_tokens } },
  backend: { type },
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

test("those that stop by themselves are bounded by what is asked for alone", () => {
  expect(answerLimit(manifest("openai-chat", { default: 300 }), undefined)).toBe(undefined);
  expect(answerLimit(manifest("google", { default: 300 }), 900)).toBe(900);
});
