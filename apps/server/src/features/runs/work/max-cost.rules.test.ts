import type { FieldSchema, Manifest } from "@gantry/wire";
import { expect, test } from "vitest";
import { affordableCall } from "./max-cost.rules.ts";

const inputTokens = 100;

function manifest(pricing: Manifest["pricing"], maxTokens: FieldSchema = {}) {
  const input = { type: "object" as const, properties: { prompt: { type: "string" }, max_tokens: maxTokens } };
  const output = { type: "object" as const, properties: { output: { type: "string", isStream: true } } };
  return { pricing, timeout_seconds: 60, input, output, backend: { type: "anthropic" } };
}
const perToken = { per_million_output_tokens: 1 };

test("the length is limited by the model and the budget", () => {
  const of = (model: ReturnType<typeof manifest>, room: number) => affordableCall(model, inputTokens, room);
  expect(of(manifest(perToken), 100_000)).toMatchObject({ maxTokens: 4096, isShort: false, most: 4096 });
  const long = manifest(perToken, { type: "integer", default: 16_000 });
  expect(of(long, 100_000)).toMatchObject({ maxTokens: 16_000, isShort: false, most: 16_000 });
  expect(of(long, 5_001)).toMatchObject({ maxTokens: 4_999, isShort: true, most: 4_999 });
  const short = manifest(perToken, { type: "integer", maximum: 1000 });
  expect(of(short, 100_000)).toMatchObject({ maxTokens: 1000, isShort: false });
});

test("without enough budget no call is made", () => {
  for (const room of [0, -1, 10]) expect(affordableCall(manifest(perToken), inputTokens, room)).toBe(undefined);
  expect(affordableCall(manifest(perToken), inputTokens, null)).toBe("no limit");
  expect(affordableCall(manifest({}), inputTokens, 0)).toBe("no limit");
});
