import { GantryError } from "@gantry/sdk";
import { describe, expect, it } from "vitest";
import { withRequestId } from "./run-error.rules.ts";

const base = { message: "No", retryable: false, body: undefined, requestId: "req_read" };

describe("the error of a prediction", () => {
  it("names the request that created the prediction", () => {
    const error = new GantryError({ ...base, status: 422, type: "invalid_input", predictionId: "pred_1" });
    expect(withRequestId(error, "req_created")).toMatchObject({
      status: 422,
      type: "invalid_input",
      predictionId: "pred_1",
      requestId: "req_created",
    });
    expect(withRequestId(error, undefined)).toMatchObject({ requestId: undefined });
  });

  it("of the connection stays as it is", () => {
    const error = new GantryError({ ...base, status: 0, type: "connection_error" });
    expect(withRequestId(error, "req_created")).toBe(error);
  });
});
