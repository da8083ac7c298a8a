import { expect, test } from "vitest";
import { inRandomOrder, runsOnce } from "./choose-backend.rules.ts";

const backend = (name: string, priority: number, weight: number) => ({ name, type: "cog", priority, weight });

test("priorities come in order, whatever the weights", () => {
  const backends = [backend("c", 2, 1000), backend("a", 0, 1), backend("b", 1, 500)];
  for (let round = 0; round < 100; round++) {
    expect(inRandomOrder(backends).map(({ name }) => name)).toEqual(["a", "b", "c"]);
  }
});

test("within a priority each comes first by its share of the weights", () => {
  const backends = [backend("a", 0, 1), backend("b", 0, 3), backend("c", 0, 6)];
  const rounds = 20_000;
  const firsts: Record<string, number> = {};
  for (let round = 0; round < rounds; round++) {
    const [first] = inRandomOrder(backends);
    firsts[first?.name ?? ""] = (firsts[first?.name ?? ""] ?? 0) + 1 / rounds;
  }
  expect(firsts.a).toBeCloseTo(0.1, 1);
  expect(firsts.b).toBeCloseTo(0.3, 1);
  expect(firsts.c).toBeCloseTo(0.6, 1);
});

test("the extremes of chance change nothing but the order", () => {
  const backends = [backend("a", 0, 1), backend("b", 0, 1000)];
  for (const chance of [0, 0.5, 1 - Number.EPSILON / 2]) {
    const names = inRandomOrder(backends, () => chance).map(({ name }) => name);
    expect(names.toSorted()).toEqual(["a", "b"]);
  }
});

test("only backends of texts and vectors may run a call again", () => {
  for (const type of ["openai-chat", "anthropic", "google", "openai-embeddings", "builtin"]) {
    expect(runsOnce({ type })).toBe(false);
  }
  for (const type of ["cog", "openai-images", "ark-images", "gantry", "a later one"]) {
    expect(runsOnce({ type })).toBe(true);
  }
});
