import { expect, test } from "vitest";
import { waitedFor } from "./stopping.rules.ts";

const nothing = { predictions: 0, runs: 0, answers: 0, queries: 0, closing: undefined };

test("what a stop waits for is named, and what is not there is not", () => {
  expect(waitedFor(nothing)).toBeUndefined();
  expect(waitedFor({ ...nothing, predictions: 1, answers: 2 })).toBe("1 prediction, 2 open responses");
  expect(waitedFor({ ...nothing, runs: 3, queries: 1, closing: "the queue" })).toBe(
    "3 runs, 1 database query, closing the queue",
  );
});
