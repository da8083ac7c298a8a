import { describe, expect, it } from "vitest";
import { Fault } from "../../kernel/errors.ts";
import { creditReference, readCreditRequest } from "./credits.ts";

function issues(body: unknown): { type: string; loc: readonly (string | number)[] }[] {
  try {
    readCreditRequest(body);
  } catch (error) {
    if (error instanceof Fault) return error.issues.map(({ type, loc }) => ({ type, loc }));
    throw error;
  }
  return [];
}

describe("the request for a credit", () => {
  it.each([
    [0.1, 100_000],
    [0.000001, 1],
    [-12.345678, -12_345_678],
    [1_000_000, 1_000_000_000_000],
    [-999_999.999999, -999_999_999_999],
  ])("%d dollars", (amount, micros) => {
    expect(readCreditRequest({ amount, reason: " top up " })).toEqual({ amount: micros, reason: "top up" });
  });

  it.each([
    [{ reason: "x" }, "missing", "amount"],
    [{ amount: "5", reason: "x" }, "float_parsing", "amount"],
    [{ amount: null, reason: "x" }, "float_parsing", "amount"],
    [{ amount: 0, reason: "x" }, "value_error", "amount"],
    [{ amount: -0, reason: "x" }, "value_error", "amount"],
    [{ amount: 0.0000001, reason: "x" }, "value_error", "amount"],
    [{ amount: 1.0000005, reason: "x" }, "value_error", "amount"],
    [{ amount: 1_000_000.01, reason: "x" }, "less_than_equal", "amount"],
    [{ amount: 1e300, reason: "x" }, "less_than_equal", "amount"],
    [{ amount: -1_000_001, reason: "x" }, "greater_than_equal", "amount"],
    [{ amount: 1 }, "missing", "reason"],
    [{ amount: 1, reason: 5 }, "string_type", "reason"],
    [{ amount: 1, reason: "  " }, "sequence_too_short", "reason"],
    [{ amount: 1, reason: "x".repeat(501) }, "string_too_long", "reason"],
    [{ amount: 1, reason: "a\u0000b" }, "value_error", "reason"],
    [{ amount: 1, reason: "x", currency: "EUR" }, "extra_forbidden", "currency"],
  ])("%j is refused", (body, type, field) => {
    expect(issues(body)).toEqual([{ type, loc: ["body", field] }]);
  });

  it("names all issues, and refuses a body that is not an object", () => {
    expect(issues({ extra: 1 }).map(({ type }) => type)).toEqual(["missing", "missing", "extra_forbidden"]);
    for (const body of [null, [], "5", 5]) expect(issues(body)).toEqual([{ type: "json_invalid", loc: ["body"] }]);
    expect(issues({ amount: 1, reason: "🙂".repeat(500) })).toEqual([]);
  });
});

describe("the reference of a credit", () => {
  const who = { adminId: "usr_a", userId: "usr_b" };

  it("is the same for the same admin, user and key alone", () => {
    const reference = creditReference("k1", who);
    expect(reference).toMatch(/^credit:usr_a:usr_b:[0-9a-f]{64}$/);
    expect(creditReference("k1", who)).toBe(reference);
    expect(creditReference("k2", who)).not.toBe(reference);
    expect(creditReference("k1", { ...who, adminId: "usr_c" })).not.toBe(reference);
    expect(creditReference(undefined, who)).toBeUndefined();
  });

  it.each(["", "with space", "x".repeat(256), "umläut"])("refuses the key %j", (key) => {
    expect(() => creditReference(key, who)).toThrow(Fault);
  });
});
