import { expect, test } from "vitest";
import { errorOf } from "./prediction-error.rules.ts";

const failed = {
  id: "pred_1",
  status: "failed",
  status_code: 502,
  error: [{ type: "model_failed", msg: "The backend failed", loc: ["body", "prompt", null], ctx: { status: 500 } }],
  request_id: "req_1",
} as const;

test("a stored failure names the request that failed", () => {
  expect(errorOf({ ...failed, error: [...failed.error] as never })).toMatchObject({
    status: 502,
    type: "model_failed",
    requestId: "req_1",
    predictionId: "pred_1",
    issues: [{ type: "model_failed", message: "The backend failed", loc: ["body", "prompt"], ctx: { status: 500 } }],
  });
});

test("other predictions have no failure", () => {
  expect(errorOf({ ...failed, status: "cancelled", error: null })).toBeUndefined();
  expect(errorOf({ ...failed, error: null })).toBeUndefined();
});
