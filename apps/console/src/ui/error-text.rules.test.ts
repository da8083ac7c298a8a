import { GantryError, type GantryIssue } from "@gantry/sdk";
import { expect, test } from "vitest";
import { errorText, isWorthRetrying } from "./error-text.rules.ts";

const failure = (status: number, ...issues: [GantryIssue["loc"], string][]) =>
  new GantryError({
    status,
    type: undefined,
    message: "message of the client",
    retryable: false,
    requestId: undefined,
    body: undefined,
    issues: issues.map(([loc, message]) => ({ loc, message, type: "value_error" })),
  });

test("the message names the field", () => {
  expect(errorText(failure(502, [["body"], "The service behind this model failed"]))).toBe(
    "The service behind this model failed",
  );
  expect(errorText(failure(422, [["body", "prompt"], "Field required"], [["body", "size"], "Too large"]))).toBe(
    "prompt: This field is required; size: Too large",
  );
  expect(errorText(failure(422, [["query", "from_date"], "Choose a shorter range."]))).toBe("Choose a shorter range.");
});

test("a connection error has its own message", () => {
  const { message } = failure(0);
  const error = new GantryError({ ...failure(0), message, type: "connection_error" });
  expect(errorText(error)).toBe("Can't reach the server. Try again in a moment.");
});

test("fixed messages of the API are translated", () => {
  const forbidden = failure(403, [["body"], "API key does not have access to the project"]);
  expect(errorText(forbidden)).toBe("You don't have access to this model");
  expect(errorText(new Error("Insufficient funds"))).toBe("Your balance is too low");
});

test("routes for programs become pages for people", () => {
  expect(
    errorText(new Error("The identity connector is not set up. Store domain and token with PUT /v1/connectors/idp.")),
  ).toBe("No identity tenant is connected. Connect one under Identity tenant.");
  expect(
    errorText(new Error("The stored token cannot be opened any more. Store it again with PUT /v1/connectors/idp.")),
  ).toBe("The stored token cannot be opened any more. Store it again under Identity tenant.");
  expect(errorText(new Error("The token has expired. Store a new one with PUT /v1/connectors/idp."))).toBe(
    "The token has expired. Store a new one under Identity tenant.",
  );
  expect(errorText(new Error('The secret "a.key" does not exist. Store it with PUT /api/v2/secrets/a.key.'))).toBe(
    'The secret "a.key" does not exist. Save it under Secrets.',
  );
  expect(errorText(new Error("Secret brave is not stored. Store it with PUT /api/v2/secrets/brave"))).toBe(
    "Secret brave is not stored. Save it under Secrets",
  );
});

test("an empty field is required, whatever the validator counts", () => {
  const issue = { loc: ["body", "goal"], type: "sequence_too_short", ctx: { min_length: 1 } };
  const error = new GantryError({
    ...failure(422),
    message: "",
    issues: [{ ...issue, message: "Text should have at least 1 character" }],
  });
  expect(errorText(error)).toBe("goal: This field is required");
});

test("other errors keep their message", () => {
  expect(errorText(failure(409))).toBe("message of the client");
  expect(errorText(new Error("gone"))).toBe("gone");
  expect(errorText("odd")).toBe("odd");
});

test("a forbidden or missing resource is not worth retrying", () => {
  expect([403, 404, 409, 503, 0].map((status) => isWorthRetrying(failure(status)))).toEqual([
    false,
    false,
    true,
    true,
    true,
  ]);
  expect(isWorthRetrying(new Error("a bug"))).toBe(true);
});
