import { expect, test } from "vitest";
import { warningText } from "./warning-text.rules.ts";

test("a missing input tells how to fix it", () => {
  expect(warningText({ field: "goal", message: "input_schema has no subject" })).toEqual({
    text: "The goal uses {{subject}}, but this input doesn't exist. Add it under Inputs.",
  });
});

test.each([
  [
    "The identity connector is not set up. Store domain and token with PUT /v1/connectors/idp.",
    "Connect an identity tenant",
  ],
  ["The token expired; store a new one with PUT /v1/connectors/idp", "Renew the token"],
])("an identity problem links to the tenant: %s", (problem, label) => {
  const message = `The agent has an identity tool that your runs cannot use: ${problem}`;
  const { text, fix } = warningText({ field: "tools", message });
  expect(fix).toEqual({ label, to: "/identity" });
  expect(text).not.toContain("/v1/");
});

test("other warnings are sentences", () => {
  const message = "The output of a run is an object, but this schema does not accept objects";
  expect(warningText({ field: "output_schema", message })).toEqual({ text: `${message}.` });
  expect(warningText({ field: "tools", message: "input_schema has no x" }).fix).toBeUndefined();
  expect(warningText({ field: "drives", message: "The agent has a drive tool, but no drive" }).fix?.to).toBe("/drives");
});
