import { describe, expect, it } from "vitest";
import { countTokens, estimateTokens } from "./token-count.ts";

describe("countTokens", () => {
  it.each([
    ["", 0],
    ["hello world", 2],
    ["The quick brown fox jumps over the lazy dog.", 10],
  ])("counts %j", async (text, count) => expect(await countTokens(text)).toBe(count));

  it("treats names of special tokens as plain text", async () => {
    expect(await countTokens("<|endoftext|>")).toBeGreaterThan(1);
  });

  it("counts long texts like short ones", async () => {
    const sentence = " The quick brown fox jumps over the lazy dog.";
    expect(await countTokens(sentence.repeat(5000))).toBe((await countTokens(sentence)) * 5000);
  });

  it.each([
    ["Chinese without blanks", "春眠不覚暁処処聞啼鳥".repeat(5000)],
    ["one letter", "a".repeat(200_000)],
    ["blanks", " ".repeat(200_000)],
  ])("does not hang on %s", async (_, text) => {
    const started = performance.now();
    expect(await countTokens(text)).toBeGreaterThan(1000);
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  it("keeps the event loop free", async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await countTokens("some words ".repeat(50_000));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  });
});

describe("estimateTokens", () => {
  const words = Array.from({ length: 150_000 }, (_, n) => ((n * 7919) % 1_000_003).toString(36)).join(" ");

  it("counts short texts", async () => {
    expect(await estimateTokens("hello world")).toBe(2);
    expect(await estimateTokens(words.slice(0, 100_000))).toBe(await countTokens(words.slice(0, 100_000)));
  });

  it("is close to the count of a long text, also if its parts differ", async () => {
    const text = words + "plain prose of every day ".repeat(20_000) + words;
    const exact = await countTokens(text);
    const estimate = await estimateTokens(text);
    expect(Math.abs(estimate - exact) / exact).toBeLessThan(0.05);
  });
});
