import { expect, test } from "vitest";
import { fault } from "../../../kernel/errors.ts";
import { ClaimLost, FileFailure, keyGone, mayBeCausedByTexts, nextOf } from "./outcome.rules.ts";

test("what the file did not cause does not count as an attempt", () => {
  expect(nextOf(new ClaimLost(), 1, true)).toEqual({ kind: "lost" });
  expect(nextOf(new Error("stop"), 1, true)).toEqual({ kind: "later", inMs: 0 });
  expect(nextOf(fault("service_unavailable", "away"), 3, false)).toMatchObject({ kind: "later" });
  expect(nextOf(fault("rate_limit", "slow", { retryAfterSeconds: 7 }), 3, false)).toEqual({
    kind: "later",
    inMs: 7_000,
  });
  expect(nextOf(fault("insufficient_funds", "x"), 3, false)).toMatchObject({ kind: "pause", retryInMs: 300_000 });
  expect(nextOf(fault("downstream_service_unavailable", "x"), 3, false)).toMatchObject({ kind: "pause" });
  expect(nextOf(keyGone(), 3, false)).toMatchObject({ kind: "pause", retryInMs: null });
});

test("other errors are retried with growing pauses, and fail at the third attempt", () => {
  const error = fault("downstream_service_error", "The model refused the text");
  expect([1, 2, 3].map((attempts) => nextOf(error, attempts, false))).toEqual([
    { kind: "retry", inMs: 10_000, reason: "The model refused the text" },
    { kind: "retry", inMs: 40_000, reason: "The model refused the text" },
    { kind: "fail", reason: "The model refused the text" },
  ]);
  expect(nextOf(new TypeError("secret detail"), 3, false)).toEqual({
    kind: "fail",
    reason: "An internal error prevented indexing.",
  });
});

test("a model that fails for one file alone does not pause the index", () => {
  const error = new FileFailure(fault("generation_timeout", "It took too long"));
  expect(nextOf(error, 1, false)).toMatchObject({ kind: "retry", inMs: 10_000 });
  expect(nextOf(error, 3, false)).toEqual({
    kind: "fail",
    reason: "The embedding model fails for this file, but not for other text: It took too long",
  });
});

test("texts may cause timeouts and failures of a model, but not limits or outages of Gantry", () => {
  const overloaded = (status: number) =>
    fault("downstream_service_unavailable", "x", { ctx: { upstream_status: status } });
  for (const error of [overloaded(503), fault("generation_timeout", "x"), fault("internal_server_error", "x")]) {
    expect(mayBeCausedByTexts(error)).toBe(true);
  }
  const others = [overloaded(429), fault("rate_limit", "x"), fault("service_unavailable", "x"), new Error("x")];
  // Not retryable: counted without a question.
  for (const error of [...others, fault("downstream_service_error", "x")]) {
    expect(mayBeCausedByTexts(error)).toBe(false);
  }
});
