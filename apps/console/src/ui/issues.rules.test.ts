import { GantryError, type GantryIssue } from "@gantry/sdk";
import { expect, test } from "vitest";
import { isSaidAt, issueAt } from "./issues.rules.ts";

const refused = (...issues: Pick<GantryIssue, "loc" | "message">[]) =>
  new GantryError({
    status: 422,
    type: "value_error",
    message: issues[0]?.message ?? "Refused",
    retryable: false,
    requestId: undefined,
    body: undefined,
    issues: issues.map((issue) => ({ ...issue, type: "value_error" })),
  });

test("says what is wrong with a field, also with one of its entries", () => {
  const error = refused(
    { loc: ["body", "models", 0], message: "There is no model a/b" },
    { loc: ["body", "models", 2], message: "There is no model c/d" },
    { loc: ["path", "name"], message: "Too long" },
  );
  expect(issueAt(error, "models")).toBe("There is no model a/b. There is no model c/d");
  expect(issueAt(error, "name")).toBe("Too long");
  expect(issueAt(error, "expires_at")).toBeUndefined();
});

test("says the same thing once", () => {
  const error = refused({ loc: ["body", "models", 0], message: "Bad" }, { loc: ["body", "models", 1], message: "Bad" });
  expect(issueAt(error, "models")).toBe("Bad");
});

test("knows whether something is left to say beside the fields", () => {
  const error = refused(
    { loc: ["body", "name"], message: "Too long" },
    { loc: ["body"], message: "Nothing to change" },
  );
  expect(isSaidAt(error, ["name"])).toBe(false);
  expect(isSaidAt(refused({ loc: ["body", "name"], message: "Too long" }), ["name"])).toBe(true);
  expect(isSaidAt(refused(), ["name"])).toBe(false);
  expect(isSaidAt(new Error("gone"), ["name"])).toBe(false);
});
