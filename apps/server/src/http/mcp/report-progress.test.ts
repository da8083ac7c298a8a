import type { ServerContext } from "@modelcontextprotocol/server";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { reportProgress } from "./report-progress.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The part of a request's context that is looked at. */
function requestWith(progressToken: string | undefined) {
  const told: unknown[] = [];
  const mcpReq = {
    _meta: progressToken === undefined ? undefined : { progressToken },
    notify: async ({ params }: { params: unknown }) => void told.push(params),
  };
  return { told, context: { mcpReq } as unknown as ServerContext };
}

test("a client that did not ask gets no progress, and no timer is left", () => {
  const { told, context } = requestWith(undefined);
  const progress = reportProgress(context);
  progress.text("a");
  expect(vi.getTimerCount()).toBe(0);
  progress.stop();
  expect(told).toEqual([]);
});

test("fragments of one period go together, the last ones at the end", () => {
  const { told, context } = requestWith("t");
  const progress = reportProgress(context);
  progress.text("a");
  progress.text("b");
  vi.advanceTimersByTime(250);
  progress.text("c");
  progress.stop();
  expect(told).toEqual([
    { progressToken: "t", progress: 1, message: "ab" },
    { progressToken: "t", progress: 2, message: "c" },
  ]);
  expect(vi.getTimerCount()).toBe(0);
});

test("a call that says nothing gives a sign of life every ten seconds", () => {
  const { told, context } = requestWith("t");
  const progress = reportProgress(context);
  vi.advanceTimersByTime(20_000);
  progress.stop();
  vi.advanceTimersByTime(60_000);
  expect(told).toMatchObject([
    { progress: 1, message: "Running for 10 seconds" },
    { progress: 2, message: "Running for 20 seconds" },
  ]);
});
