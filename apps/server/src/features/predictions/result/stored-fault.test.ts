import { expect, test } from "vitest";
import { fault } from "../../../kernel/errors.ts";
import { issuesToStore, storedFault } from "./stored-fault.ts";

const reread = (error: ReturnType<typeof issuesToStore>) => storedFault(JSON.parse(JSON.stringify(error)));

test.each([
  [fault("internal_server_error", "x"), true],
  [fault("internal_server_error", "x", { retryable: false }), false],
  [fault("content_policy_violation", "x", { loc: ["body", "prompt"] }), false],
  [fault("downstream_service_error", "x", { retryable: true, ctx: { a: 1 } }), true],
])("what was known of a failure is known again: %s", (failure, retryable) => {
  const again = reread(issuesToStore(failure));
  expect(again).toMatchObject({ type: failure.type, status: failure.status, retryable });
  expect(again?.issues).toEqual(failure.issues);
});

test("only what differs from the table is kept, and nothing is no failure", () => {
  expect(issuesToStore(fault("internal_server_error", "x"))).toEqual([
    { type: "internal_server_error", loc: ["body"], msg: "x" },
  ]);
  expect(storedFault(null)).toBeUndefined();
});
