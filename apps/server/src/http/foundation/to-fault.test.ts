import { expect, test } from "vitest";
import { fault } from "../../kernel/errors.ts";
import { toFault } from "./to-fault.ts";

const thrown = (code: string) => Object.assign(new Error("as the framework says it"), { code });

test.each([
  ["FST_ERR_CTP_INVALID_JSON_BODY", 422, /^The body is not valid JSON$/],
  ["FST_ERR_CTP_EMPTY_JSON_BODY", 422, /empty/],
  ["FST_ERR_CTP_INVALID_MEDIA_TYPE", 422, /application\/json/],
  ["FST_ERR_CTP_BODY_TOO_LARGE", 422, /too large/],
  ["GANTRY_TOO_MANY_VALUES", 422, /more than 1000000 values/],
  ["FST_ERR_BAD_URL", 404, /Not found/],
  ["40P01", 503, /Try again/],
  ["55P03", 503, /Try again/],
  ["ANYTHING_ELSE", 500, /Internal server error/],
])("%s is a %i that says what is wrong", (code, status, message) => {
  const cause = thrown(code);
  const failure = toFault(cause);
  expect([failure.status, failure.cause]).toEqual([status, cause]);
  expect(failure.message).toMatch(message);
});

test("a fault stays what it is", () => {
  const own = fault("conflict", "No");
  expect(toFault(own)).toBe(own);
});
