import { expect, test } from "vitest";
import { missingInput, missingOutput } from "./content-states.rules.ts";

const ended = { input: null, input_state: "not_kept", run_id: null, agent: null, status: "succeeded" } as const;

test("only a missing input has a reason", () => {
  expect(missingInput({ ...ended, input: {}, input_state: "kept" })).toBeUndefined();
  expect(missingInput(ended)).toContain("opts out");
  expect(missingInput({ ...ended, run_id: "run_1" })).toContain("trace");
  expect(missingInput({ ...ended, input_state: "deleted", run_id: "run_1" })).toContain("You deleted");
  expect(missingInput({ ...ended, input_state: "expired" })).toContain("expired");
});

test("a missing output has the reason of its state", () => {
  expect(missingOutput({ ...ended, status: "waiting" })).toContain("Waiting");
  expect(missingOutput({ ...ended, input_state: "deleted" })).toContain("You deleted");
  expect(missingOutput({ ...ended, run_id: "run_1" })).toContain("trace");
  expect(missingOutput({ ...ended, status: "cancelled" })).toContain("Cancelled");
});
