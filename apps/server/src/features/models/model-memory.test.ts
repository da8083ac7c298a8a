import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLog } from "../../kernel/log.ts";
import type { Model } from "./model.ts";
import { createModelMemory } from "./model-memory.ts";

const version = (number: number) => ({ id: "mdl_1", version: number }) as Model;
const log = createLog("silent");

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("concurrent requests share one lookup, which is cached for a second", async () => {
  const find = vi.fn(async () => version(1));
  const memory = createModelMemory(find, log);
  await Promise.all(Array.from({ length: 100 }, () => memory.get("a/b")));
  await memory.get("a/b");
  expect(find).toHaveBeenCalledTimes(1);
});

test("a model in use is refreshed in the background, and queried again after a second", async () => {
  const find = vi.fn(async () => version(1));
  const memory = createModelMemory(find, log);
  await memory.get("a/b");
  vi.advanceTimersByTime(600);
  find.mockImplementation(async () => version(2));
  expect((await memory.get("a/b"))?.version).toBe(1);
  expect((await memory.get("a/b"))?.version).toBe(2);
  vi.advanceTimersByTime(1000);
  find.mockImplementation(async () => version(3));
  expect((await memory.get("a/b"))?.version).toBe(3);
});

test("the same version stays the same object", async () => {
  const memory = createModelMemory(async () => version(1), log);
  const first = await memory.get("a/b");
  vi.advanceTimersByTime(5000);
  expect(await memory.get("a/b")).toBe(first);
});

test("a missing model is not cached", async () => {
  const find = vi.fn(async (): Promise<Model | undefined> => undefined);
  const memory = createModelMemory(find, log);
  expect(await memory.get("a/b")).toBeUndefined();
  find.mockImplementation(async () => version(1));
  expect((await memory.get("a/b"))?.version).toBe(1);
  expect(memory.size).toBe(1);
});

test("a lookup from before a change is not cached or joined", async () => {
  const answers: ((model: Model) => void)[] = [];
  const memory = createModelMemory(() => new Promise((resolve) => answers.push(resolve)), log);
  const early = memory.get("a/b");
  memory.forget("a/b");
  const late = memory.get("a/b");
  answers[1]?.(version(2));
  expect((await late)?.version).toBe(2);
  answers[0]?.(version(1));
  expect((await early)?.version).toBe(1);
  expect((await memory.get("a/b"))?.version).toBe(2);
});

test("a failed lookup rejects, and the next one queries again", async () => {
  const find = vi.fn<() => Promise<Model>>().mockRejectedValueOnce(new Error("away")).mockResolvedValue(version(1));
  const memory = createModelMemory(find, log);
  await expect(memory.get("a/b")).rejects.toThrow("away");
  expect((await memory.get("a/b"))?.version).toBe(1);
});

test("the cache holds a thousand models and evicts the least recently used", async () => {
  const find = vi.fn(async () => version(1));
  const memory = createModelMemory(find, log);
  for (let i = 0; i <= 1000; i++) await memory.get(`a/${i}`);
  expect(memory.size).toBe(1000);
  await memory.get("a/1000");
  expect(find).toHaveBeenCalledTimes(1001);
  await memory.get("a/0");
  expect(find).toHaveBeenCalledTimes(1002);
});
