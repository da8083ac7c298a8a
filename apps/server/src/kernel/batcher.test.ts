import { expect, test } from "vitest";
import { createBatcher } from "./batcher.ts";

test("items that arrive together form one batch, in order", async () => {
  const batches: number[][] = [];
  const batcher = createBatcher<number, number>({
    maxItems: 4,
    blameItem: () => false,
    run: async (items) => {
      batches.push([...items]);
      return items.map((item) => item * 10);
    },
  });
  const results = await Promise.all([1, 2, 3, 4, 5, 6].map((item) => batcher.add(item)));
  expect(results).toEqual([10, 20, 30, 40, 50, 60]);
  expect(batches).toEqual([
    [1, 2, 3, 4],
    [5, 6],
  ]);
});

test("one batch runs at a time, later items join the next", async () => {
  let running = 0;
  let most = 0;
  const batcher = createBatcher<number, number>({
    maxItems: 100,
    blameItem: () => false,
    run: async (items) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
      return items;
    },
  });
  const early = batcher.add(1);
  await new Promise((resolve) => setTimeout(resolve, 2));
  await Promise.all([early, batcher.add(2), batcher.add(3)]);
  expect(most).toBe(1);
});

test("one bad item fails alone", async () => {
  const batcher = createBatcher<number, number>({
    maxItems: 100,
    blameItem: (error) => (error as Error).message === "bad item",
    run: async (items) => {
      if (items.includes(3)) throw new Error("bad item");
      return items;
    },
  });
  const results = await Promise.allSettled([1, 2, 3, 4].map((item) => batcher.add(item)));
  expect(results.map((one) => one.status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
});

test("a lost engine fails the whole batch, and the next batch is attempted", async () => {
  let away = true;
  const batcher = createBatcher<number, number>({
    maxItems: 100,
    blameItem: () => false,
    run: async (items) => {
      if (away) throw new Error("away");
      return items;
    },
  });
  await expect(Promise.all([batcher.add(1), batcher.add(2)])).rejects.toThrow("away");
  away = false;
  await expect(batcher.add(3)).resolves.toBe(3);
});

test("a batch waits for more items only for gatherMs", async () => {
  const batches: number[][] = [];
  let gatherMs = 20;
  const batcher = createBatcher<number, number>({
    maxItems: 100,
    blameItem: () => false,
    gatherMs: () => gatherMs,
    run: async (items) => {
      batches.push([...items]);
      return items;
    },
  });
  const early = batcher.add(1);
  await new Promise((resolve) => setTimeout(resolve, 5));
  await Promise.all([early, batcher.add(2)]);
  gatherMs = 0;
  const hurried = batcher.add(3);
  await new Promise((resolve) => setTimeout(resolve, 5));
  await Promise.all([hurried, batcher.add(4)]);
  expect(batches).toEqual([[1, 2], [3], [4]]);
});
