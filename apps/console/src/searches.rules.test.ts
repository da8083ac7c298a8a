import { expect, test } from "vitest";
import {
  agentSearch,
  deliverySearch,
  driveSearch,
  listSearch,
  moneySearch,
  signInSearch,
  usageSearch,
} from "./searches.rules.ts";

test("a list is shown from its beginning where its page makes no sense", () => {
  expect(listSearch({ page: 3, q: "gate" })).toEqual({ page: 3, q: "gate" });
  for (const page of [1, 0, -2, 1.5, "3", null]) expect(listSearch({ page, q: "" })).toEqual({});
});

test("whoever signs in is led to places of the console alone", () => {
  expect(signInSearch({ from: "/runs/run_1?tab=x" })).toEqual({ from: "/runs/run_1?tab=x" });
  for (const from of ["//elsewhere.example", "/\\elsewhere.example", "https://elsewhere.example", 7]) {
    expect(signInSearch({ from })).toEqual({});
  }
});

test("words of a fixed set are taken as they are, others not at all", () => {
  expect(agentSearch({ tab: "share" })).toEqual({ tab: "share" });
  expect(agentSearch({ tab: "run" })).toEqual({});
  expect(deliverySearch({ status: "gone", page: 2 })).toEqual({ status: "gone", page: 2 });
  expect(deliverySearch({ status: "lost" })).toEqual({});
});

test("one prediction is named by its id, and found by its moment", () => {
  const at = "2026-01-31T10:00:00.123456Z";
  expect(usageSearch({ prediction: "pred_1", at })).toEqual({ prediction: "pred_1", at });
  expect(usageSearch({ prediction: "", at: "noon", from: "2026-01-01" })).toEqual({ from: "2026-01-01" });
});

test("paths begin at the drive", () => {
  expect(driveSearch({ path: "/a", file: "/a/b.txt" })).toEqual({ path: "/a", file: "/a/b.txt" });
  expect(driveSearch({ path: "/", file: "b.txt" })).toEqual({});
});

test("what was spent has pages of its own", () => {
  expect(moneySearch({ models: 2, page: 3, to: "2026-01-31" })).toEqual({ models: 2, page: 3, to: "2026-01-31" });
});
