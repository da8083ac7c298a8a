import { expect, test } from "vitest";
import { createBodyMemory } from "./body-memory.ts";

test("bodies of one user never take more than its share, nor all bodies more than the whole", () => {
  const memory = createBodyMemory(100, 50);
  const first = memory.take("ann", 50);
  expect(first).toBeDefined();
  expect(memory.take("ann", 1)).toBeUndefined();
  expect(memory.take("bob", 40)).toBeDefined();
  expect(memory.take("cat", 20)).toBeUndefined();
  first?.release();
  expect(memory.take("cat", 50)).toBeDefined();
});

test("a release counts once, also after a shrink", () => {
  const memory = createBodyMemory(100, 100);
  const taken = memory.take("ann", 100);
  taken?.shrink(10);
  taken?.shrink(50);
  expect(memory.take("bob", 91)).toBeUndefined();
  const other = memory.take("bob", 90);
  expect(other).toBeDefined();
  taken?.release();
  taken?.release();
  expect(memory.take("cat", 11)).toBeUndefined();
  expect(memory.take("cat", 10)).toBeDefined();
});
