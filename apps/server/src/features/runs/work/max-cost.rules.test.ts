import type { FieldSchema, Manifest } from "@gantry/wire";
import { expect, test } from "vitest";
import { affordableCall } from "./max-cost.rules.ts";

const chat = { messages: [{ role: "user" as const, content: "x" }] };
const countTokens = async () => 100;

function manifest(pricing: Manifest["pricing"], maxTokens: FieldSchema = {}) {
  const input = { type: "object" as const, properties: { prompt: { type: "string" }, max_tokens: maxTokens } };
  return { pricing, timeout_seconds: 60, input, backend: { type: "anthropic" } };
}
const perToken = { per_million_output_tokens: 1 };

test("an answer is as long as the model lets it be, and as can be paid", async () => {
  const of = (model: ReturnType<typeof manifest>, room: number) => affordableCall(model, chat, room, countTokens);
  expect(await of(manifest(perToken), 100_000)).toMatchObject({ maxTokens: 4096, isShort: false, most: 4096 });
  const long = manifest(perToken, { type: "integer", default: 16_000 });
  expect(await of(long, 100_000)).toMatchObject({ maxTokens: 16_000, isShort: false, most: 16_000 });
  expect(await of(long, 5_001)).toMatchObject({ maxTokens: 5_000, isShort: true });
  const short = manifest(perToken, { type: "integer", maximum: 1000 });
  expect(await of(short, 100_000)).toMatchObject({ maxTokens: 1000, isShort: false });
});

test("where nothing is left, or not enough for an answer, no call is made", async () => {
  for (const room of [0, -1, 10])
    expect(await affordableCall(manifest(perToken), chat, room, countTokens)).toBe(undefined);
  expect(await affordableCall(manifest(perToken), chat, null, countTokens)).toBe("no limit");
  expect(await affordableCall(manifest({}), chat, 0, countTokens)).toBe("no limit");
});
