import { GantryError, type GantryIssue } from "@gantry/sdk";
import { describe, expect, it } from "vitest";
import { fieldErrors } from "./field-errors.rules.ts";

const refusal = (...issues: [string, string][]) =>
  new GantryError({
    status: 400,
    type: "invalid_input",
    message: "no",
    retryable: false,
    requestId: undefined,
    body: undefined,
    issues: issues.map(([loc, message]): GantryIssue => ({ loc: loc.split("."), message, type: "value_error" })),
  });

describe("what the service refused, by field", () => {
  it("has nothing where nothing failed", () => {
    expect(fieldErrors(null, ["name"])).toEqual({ of: {}, rest: undefined });
  });

  it("stands at the field it names, the first word of each", () => {
    const error = refusal(["body.name", "Too long"], ["body.name", "Has spaces"], ["body.auth.token", "Too short"]);
    expect(fieldErrors(error, ["name", "auth.token"])).toEqual({
      of: { name: "Too long", "auth.token": "Too short" },
      rest: undefined,
    });
  });

  it("stands at the box of the whole object where its part has none", () => {
    expect(fieldErrors(refusal(["body.options.0.size", "Too large"]), ["options"]).of).toEqual({
      options: "Too large",
    });
  });

  it("is told whole where one of it has no field", () => {
    const error = refusal(["body.name", "Too long"], ["body.else", "Unknown field"]);
    expect(fieldErrors(error, ["name"])).toEqual({ of: { name: "Too long" }, rest: error });
    const other = new Error("no answer");
    expect(fieldErrors(other, ["name"])).toEqual({ of: {}, rest: other });
  });

  it("reads the fields below a part of the body only", () => {
    const error = refusal(["body.arguments.name", "Too long"], ["body.name", "Unknown field"]);
    expect(fieldErrors(error, ["name"], ["arguments"])).toEqual({ of: { name: "Too long" }, rest: error });
  });
});
