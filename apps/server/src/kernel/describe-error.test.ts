import { expect, test } from "vitest";
import { describeError } from "./describe-error.ts";
import { fault } from "./errors.ts";

test("adds the cause of a fault and leaves other errors as they are", () => {
  const refused = new AggregateError([new Error("::1 refused"), new Error("127.0.0.1 refused")]);
  const inner = fault("service_unavailable", "The connection was lost.", { cause: refused });
  expect(describeError(fault("service_unavailable", "The database cannot be reached.", { cause: inner }))).toBe(
    "The database cannot be reached. The connection was lost. ::1 refused, 127.0.0.1 refused",
  );
  expect(describeError(new Error("GANTRY_HOME is wrong", { cause: new Error("EACCES") }))).toBe("GANTRY_HOME is wrong");
  expect(describeError(fault("service_unavailable", "Gone: x", { cause: new Error("x") }))).toBe("Gone: x");
  expect(describeError("thrown")).toBe("thrown");
});
