import { GantryError } from "@gantry/sdk";
import { expect, test } from "vitest";
import { adviceFor, errorWithAdvice } from "./error-advice.rules.ts";

const failure = (type: string, message = "", more: { retryAfter?: number; requestId?: string } = {}) =>
  new GantryError({ status: 400, type, message, retryable: false, requestId: undefined, body: undefined, ...more });

test("an error says what to do next", () => {
  expect(adviceFor(failure("rate_limit", "", { retryAfter: 2.2 }))?.text).toBe("Try again in 3 s.");
  expect(adviceFor(failure("insufficient_funds", "Insufficient funds"))?.text).toContain("Ask an admin for credit");
  expect(adviceFor(failure("internal", "", { requestId: "req_1" }))?.text).toContain("request id");
});

test("a missing tenant leads to the page that connects it", () => {
  const missing = failure("not_found", "The identity connector is not set up");
  expect(adviceFor(missing)?.link?.to).toBe("/identity");
});

test("messages that say it already get no more", () => {
  expect(
    adviceFor(failure("insufficient_funds", "Balance is $0.02; this run costs $0.03. Add credit.")),
  ).toBeUndefined();
  expect(adviceFor(failure("conflict", "The name is taken"))).toBeUndefined();
  expect(adviceFor(failure("some_new_type"))).toBeUndefined();
  expect(adviceFor(new Error("a bug"))).toBeUndefined();
});

test("a toast has both in one line", () => {
  expect(errorWithAdvice(failure("unavailable", "The database cannot be reached."))).toBe(
    "The database cannot be reached. Try again in a moment.",
  );
  expect(errorWithAdvice(failure("not_found", "Key not found"))).toBe(
    "Key not found. It may have been deleted, or it belongs to another user.",
  );
  expect(errorWithAdvice(new Error("gone"))).toBe("gone");
});
