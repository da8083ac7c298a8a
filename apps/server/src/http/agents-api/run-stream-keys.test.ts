import type { FastifyRequest } from "fastify";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Fault, fault } from "../../kernel/errors.ts";
import { createStreamKeys } from "./run-stream-keys.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const failures = new Map<string, Fault>();
let looks: string[];
const by = async (key: string) => {
  looks.push(key);
  const failure = failures.get(key);
  if (failure) throw failure;
};
const requestWith = (key: string) =>
  ({ headers: { "x-api-key": key }, identified: { by, caller: by(key) } }) as unknown as FastifyRequest;

beforeEach(() => {
  looks = [];
  failures.clear();
});

test("a thousand readers with one key need one check, and each is notified once", async () => {
  const keys = createStreamKeys();
  const [told, others] = [vi.fn(), vi.fn()];
  const [mine, theirs] = [requestWith("a"), requestWith("b")];
  for (let n = 0; n < 1000; n++) keys.watch(mine, told);
  keys.watch(theirs, others);
  looks = [];
  await vi.advanceTimersByTimeAsync(1000);
  expect(looks.sort()).toEqual(["a", "a", "b", "b"]);
  expect(told).not.toHaveBeenCalled();
  failures.set("a", fault("unauthorized", "Invalid API key"));
  await vi.advanceTimersByTimeAsync(500);
  expect(told).toHaveBeenCalledTimes(1000);
  await vi.advanceTimersByTimeAsync(2000);
  expect(told).toHaveBeenCalledTimes(1000);
  expect(others).not.toHaveBeenCalled();
});

test("a database that is away ends no stream", async () => {
  const keys = createStreamKeys();
  const told = vi.fn();
  keys.watch(requestWith("a"), told);
  failures.set("a", fault("service_unavailable", "The database is away"));
  await vi.advanceTimersByTimeAsync(3000);
  expect(told).not.toHaveBeenCalled();
  failures.set("a", fault("unauthorized", "Invalid API key"));
  await vi.advanceTimersByTimeAsync(500);
  expect(told).toHaveBeenCalledTimes(1);
});

test("a slow check is not repeated meanwhile, and checks end with the last reader", async () => {
  const keys = createStreamKeys();
  const held = Promise.withResolvers<void>();
  const slow = { headers: { "x-api-key": "a" }, identified: { by: vi.fn(() => held.promise) } };
  const leave = keys.watch(slow as unknown as FastifyRequest, () => {});
  await vi.advanceTimersByTimeAsync(5000);
  expect(slow.identified.by).toHaveBeenCalledTimes(1);
  held.resolve();
  await vi.advanceTimersByTimeAsync(500);
  expect(slow.identified.by).toHaveBeenCalledTimes(2);
  leave();
  expect(vi.getTimerCount()).toBe(0);
  const again = keys.watch(requestWith("b"), () => {});
  expect(vi.getTimerCount()).toBe(1);
  again();
});
