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

describe("errors by field", () => {
  it("are empty without a failure", () => {
    expect(fieldErrors(null, ["name"])).toEqual({ of: {}, rest: undefined, failure: undefined });
  });

  it("appear at the field, wherever in the request it is", () => {
    const error = refusal([["path", "name"], "Too long"], [["body", "auth", "token"], "Too short"]);
    expect(fieldErrors(error, ["name", "auth.token"])).toEqual({
      of: { name: "Too long", "auth.token": "Too short" },
      rest: undefined,
      failure: error,
    });
  });

  it("join all messages of a field without duplicates", () => {
    const error = refusal(
      [["body", "name"], "Too long"],
      [["body", "name"], "Has spaces"],
      [["body", "name"], "Too long"],
    );
    expect(fieldErrors(error, ["name"]).of).toEqual({ name: "Too long; Has spaces" });
  });

  it("appear at the surrounding object if its part has no input, and name the part", () => {
    const error = refusal([["body", "options", 0, "size"], "Too large"]);
    expect(fieldErrors(error, ["options"]).of).toEqual({ options: "0.size: Too large" });
    expect(fieldErrors(error, ["options", "options.0"]).of).toEqual({ "options.0": "size: Too large" });
  });

  it("leave out the index of list entries", () => {
    const error = refusal([["body", "models", 0], "a/b does not exist"], [["body", "models", 2], "c/d does not exist"]);
    expect(fieldErrors(error, ["models"]).of).toEqual({ models: "a/b does not exist; c/d does not exist" });
  });

  it("keep the whole failure if an issue has no field", () => {
    const error = refusal([["body", "name"], "Too long"], [["body"], "Nothing to change"]);
    expect(fieldErrors(error, ["name"])).toMatchObject({ of: { name: "Too long" }, rest: error });
    const other = new Error("no answer");
    expect(fieldErrors(other, ["name"])).toMatchObject({ of: {}, rest: other });
  });
});
