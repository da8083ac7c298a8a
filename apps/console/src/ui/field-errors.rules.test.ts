import { GantryError, type GantryIssue } from "@gantry/sdk";
import { describe, expect, it } from "vitest";
import { fieldErrors } from "./field-errors.rules.ts";

const refusal = (...issues: [GantryIssue["loc"], string][]) =>
  new GantryError({
    status: 400,
    type: "invalid_input",
    message: "no",
    retryable: false,
    requestId: undefined,
    body: undefined,
    issues: issues.map(([loc, message]) => ({ loc, message, type: "value_error" })),
  });

describe("what the service refused, by field", () => {
  it("has nothing where nothing failed", () => {
    expect(fieldErrors(null, ["name"])).toEqual({ of: {}, rest: undefined, failure: undefined });
  });

  it("stands at the field it names, wherever in the request that is", () => {
    const error = refusal([["path", "name"], "Too long"], [["body", "auth", "token"], "Too short"]);
    expect(fieldErrors(error, ["name", "auth.token"])).toEqual({
      of: { name: "Too long", "auth.token": "Too short" },
      rest: undefined,
      failure: error,
    });
  });

  it("is all that is wrong with a field, each thing once", () => {
    const error = refusal(
      [["body", "name"], "Too long"],
      [["body", "name"], "Has spaces"],
      [["body", "name"], "Too long"],
    );
    expect(fieldErrors(error, ["name"]).of).toEqual({ name: "Too long; Has spaces" });
  });

  it("stands at the box of the whole object where its part has none, and names the part", () => {
    const error = refusal([["body", "options", 0, "size"], "Too large"]);
    expect(fieldErrors(error, ["options"]).of).toEqual({ options: "0.size: Too large" });
    expect(fieldErrors(error, ["options", "options.0"]).of).toEqual({ "options.0": "size: Too large" });
  });

  it("does not count the entries of a list", () => {
    const error = refusal([["body", "models", 0], "There is no a/b"], [["body", "models", 2], "There is no c/d"]);
    expect(fieldErrors(error, ["models"]).of).toEqual({ models: "There is no a/b; There is no c/d" });
  });

  it("is told whole where one of it has no field", () => {
    const error = refusal([["body", "name"], "Too long"], [["body"], "Nothing to change"]);
    expect(fieldErrors(error, ["name"])).toMatchObject({ of: { name: "Too long" }, rest: error });
    const other = new Error("no answer");
    expect(fieldErrors(other, ["name"])).toMatchObject({ of: {}, rest: other });
  });
});
