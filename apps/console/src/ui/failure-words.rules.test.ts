import { GantryError, type GantryIssue } from "@gantry/sdk";
import { expect, test } from "vitest";
import { mayHelpToRetry, wordsOf } from "./failure-words.rules.ts";

const failure = (status: number, ...issues: [GantryIssue["loc"], string][]) =>
  new GantryError({
    status,
    type: undefined,
    message: "as the client tells it",
    retryable: false,
    requestId: undefined,
    body: undefined,
    issues: issues.map(([loc, message]) => ({ loc, message, type: "value_error" })),
  });

test("names the field where there is one", () => {
  expect(wordsOf(failure(502, [["body"], "The service behind this model failed"]))).toBe(
    "The service behind this model failed",
  );
  expect(wordsOf(failure(422, [["body", "prompt"], "Field required"], [["body", "size"], "Too large"]))).toBe(
    "prompt: Field required; size: Too large",
  );
});

test("says in plain words that there was no answer", () => {
  const { message } = failure(0);
  const error = new GantryError({ ...failure(0), message, type: "connection_error" });
  expect(wordsOf(error)).toBe("The server does not answer. Try again in a moment.");
});

test("says what was said otherwise", () => {
  expect(wordsOf(failure(409))).toBe("as the client tells it");
  expect(wordsOf(new Error("gone"))).toBe("gone");
  expect(wordsOf("odd")).toBe("odd");
});

test("what is refused or not there is not asked for again", () => {
  expect([403, 404, 409, 503, 0].map((status) => mayHelpToRetry(failure(status)))).toEqual([
    false,
    false,
    true,
    true,
    true,
  ]);
  expect(mayHelpToRetry(new Error("a bug"))).toBe(true);
});
