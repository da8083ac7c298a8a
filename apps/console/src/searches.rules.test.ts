import { expect, test } from "vitest";
import {
  agentSearch,
  connectSearch,
  deliverySearch,
  driveSearch,
  listSearch,
  moneySearch,
  newAgentSearch,
  sharedListSearch,
  signInSearch,
  usageSearch,
} from "./searches.rules.ts";

test("an invalid page number shows the first page", () => {
  expect(listSearch({ page: 3, q: "gate" })).toEqual({ page: 3, q: "gate" });
  for (const page of [1, 0, -2, 1.5, "3", null]) expect(listSearch({ page, q: "" })).toEqual({});
});

test("signing in leads only to console paths", () => {
  expect(signInSearch({ from: "/runs/run_1?tab=x" })).toEqual({ from: "/runs/run_1?tab=x" });
  for (const from of ["//elsewhere.example", "/\\elsewhere.example", "https://elsewhere.example", 7]) {
    expect(signInSearch({ from })).toEqual({});
  }
});

test("unknown values of an enum are dropped", () => {
  expect(agentSearch({ tab: "share" })).toEqual({ tab: "share" });
  expect(agentSearch({ tab: "run" })).toEqual({});
  expect(deliverySearch({ status: "gone", page: 2 })).toEqual({ status: "gone", page: 2 });
  expect(deliverySearch({ status: "lost" })).toEqual({});
  expect(sharedListSearch({ for: "everyone", page: 2 })).toEqual({ for: "everyone", page: 2 });
  expect(sharedListSearch({ for: "own" })).toEqual({});
});

test("a prediction is addressed by id and time", () => {
  const at = "2026-01-31T10:00:00.123456Z";
  expect(usageSearch({ prediction: "pred_1", at })).toEqual({ prediction: "pred_1", at });
  expect(usageSearch({ prediction: "", at: "noon", from: "2026-01-01" })).toEqual({ from: "2026-01-01" });
});

test("drive paths are absolute", () => {
  expect(driveSearch({ path: "/a", file: "/a/b.txt" })).toEqual({ path: "/a", file: "/a/b.txt" });
  expect(driveSearch({ path: "/", file: "b.txt" })).toEqual({});
});

test("spending has its own page number", () => {
  expect(moneySearch({ models: 2, page: 3, to: "2026-01-31" })).toEqual({ models: 2, page: 3, to: "2026-01-31" });
});

test("the step of connecting a model is in the address", () => {
  expect(connectSearch({ type: "ollama", for: "everyone" })).toEqual({ type: "ollama", for: "everyone" });
  expect(connectSearch({ type: "toaster", for: "own", edit: true })).toEqual({});
  expect(connectSearch({ type: "ollama", provider: "mine", edit: true })).toEqual({ provider: "mine", edit: true });
  const imported = ["ann/a", "ann/b"];
  expect(connectSearch({ provider: "mine", imported: [...imported, 7, "nonsense"] })).toEqual({
    provider: "mine",
    imported,
  });
  expect(connectSearch({ provider: "mine", imported: "ann/a" })).toEqual({ provider: "mine" });
});

test("a new agent may start with a model", () => {
  expect(newAgentSearch({ model: "ann/a" })).toEqual({ model: "ann/a" });
  expect(newAgentSearch({ model: 7 })).toEqual({});
});
