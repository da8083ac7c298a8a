import { describe, expect, test } from "vitest";
import { connectionError } from "../src/errors.ts";
import { errorFrom } from "../src/read-error.ts";
import { mayRepeat, pauseBefore } from "../src/retry.rules.ts";

const answer = (status: number, headers: Record<string, string> = {}) => {
  const told = new Headers(headers);
  return { failure: errorFrom({ status, headers: told }, { detail: "no" }), headers: told };
};
const retryable = { "x-service-retryable": "true" };
const refused = { ...retryable, "retry-after": "1" };

describe("what may be repeated", () => {
  test.each<[string, string, string | undefined, number, Record<string, string>, boolean]>([
    ["a GET that a proxy could not pass on", "GET", undefined, 502, {}, true],
    ["a GET that is wrong", "GET", undefined, 404, { "x-service-retryable": "false" }, false],
    ["a GET whose failure says that it stays one", "GET", undefined, 503, { "x-service-retryable": "false" }, false],
    ["a POST refused for its rate", "POST", undefined, 429, retryable, true],
    ["a POST refused by a server that is going down", "POST", undefined, 503, refused, true],
    ["a POST whose commit was not answered", "POST", undefined, 503, retryable, false],
    ["a DELETE whose commit was not answered", "DELETE", undefined, 503, retryable, false],
    ["the same POST with a key", "POST", "k", 503, retryable, true],
    ["a GET that the database did not answer", "GET", undefined, 503, retryable, true],
    ["a POST that a proxy could not pass on", "POST", undefined, 503, {}, false],
    ["a POST that a proxy will pass on later", "POST", undefined, 503, { "retry-after": "1" }, false],
    ["a POST that failed inside", "POST", undefined, 500, retryable, false],
    ["a prediction that was accepted", "POST", undefined, 503, { ...refused, "x-prediction-id": "pred_1" }, false],
    ["the same with a key", "POST", "k", 503, { ...retryable, "x-prediction-id": "pred_1" }, true],
    ["a POST with a key that failed inside", "POST", "k", 500, retryable, true],
    ["a POST with a key that is wrong", "POST", "k", 422, { "x-service-retryable": "false" }, false],
    ["a DELETE that failed inside", "DELETE", undefined, 500, retryable, false],
  ])("%s", (_, method, idempotencyKey, status, given, expected) => {
    const { failure, headers } = answer(status, given);
    expect(mayRepeat({ method, idempotencyKey }, failure, headers)).toBe(expected);
  });

  test("a broken connection: reading, and what has a key", () => {
    const broken = connectionError("gone");
    expect(mayRepeat({ method: "GET" }, broken, undefined)).toBe(true);
    expect(mayRepeat({ method: "HEAD" }, broken, undefined)).toBe(true);
    expect(mayRepeat({ method: "POST", idempotencyKey: "k" }, broken, undefined)).toBe(true);
    expect(mayRepeat({ method: "POST" }, broken, undefined)).toBe(false);
    expect(mayRepeat({ method: "DELETE" }, broken, undefined)).toBe(false);
  });
});

describe("the pause before the next try", () => {
  test("is what the service asks for, unless that is more than a minute", () => {
    expect(pauseBefore(answer(429, { "retry-after": "3" }).failure, 0)).toBe(3000);
    expect(pauseBefore(answer(429, { "retry-after": "0" }).failure, 4)).toBe(0);
    expect(pauseBefore(answer(429, { "retry-after": "61" }).failure, 0)).toBeUndefined();
    const soon = new Date(Date.now() + 10_000).toUTCString();
    expect(pauseBefore(answer(503, { "retry-after": soon }).failure, 0)).toBeGreaterThan(8_000);
    expect(pauseBefore(answer(503, { "retry-after": "soon" }).failure, 0, 1)).toBe(500);
  });

  test("else doubles up to a bound, with chance in it", () => {
    const broken = connectionError("gone");
    expect([0, 1, 2, 3, 4, 9].map((tried) => pauseBefore(broken, tried, 1))).toEqual([
      500, 1000, 2000, 4000, 8000, 8000,
    ]);
    expect(pauseBefore(broken, 0, 0)).toBe(250);
  });
});
