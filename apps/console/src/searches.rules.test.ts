import { expect, test } from "vitest";
import { connectSearch } from "./pages/providers/connect/connect-search.rules.ts";
import {
  agentSearch,
  approvalsSearch,
  deliverySearch,
  driveSearch,
  filesSearch,
  listSearch,
  modelSearch,
  moneySearch,
  newAgentSearch,
  predictionSearch,
  predictionsSearch,
  runSearch,
  runsSearch,
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

test("filters of predictions are kept in the address, and unknown ones are dropped", () => {
  const filters = {
    q: "pred_1",
    model: "a/b",
    status: "failed",
    mode: "async",
    key: "key_1",
    agent: "a",
    run: "run_1",
  };
  expect(predictionsSearch({ ...filters, range: "7d", page: 2 })).toEqual({ ...filters, range: "7d", page: 2 });
  expect(predictionsSearch({ status: "lost", mode: "fax", range: "1y", before: "noon", model: "" })).toEqual({});
  expect(predictionsSearch({ range: "7d", from: "2026-01-01" })).toEqual({ from: "2026-01-01" });
  expect(predictionSearch({ view: "json" })).toEqual({ view: "json" });
  expect(predictionSearch({ view: "xml" })).toEqual({});
  expect(filesSearch({ origin: "output", file: "file_1" })).toEqual({ origin: "output", file: "file_1" });
  expect(filesSearch({ origin: "stolen", file: "", before: "soon" })).toEqual({});
  expect(filesSearch({ q: "a", before: "2026-11-18T12:00:00Z" })).toEqual({ q: "a", before: "2026-11-18T12:00:00Z" });
});

test("usage keeps its filters, and old addresses of predictions", () => {
  expect(usageSearch({ by: "key", model: "a/b", range: "30d" })).toEqual({ by: "key", model: "a/b", range: "30d" });
  expect(usageSearch({ by: "model", prediction: "pred_1", at: "2026-01-31T10:00:00Z" })).toEqual({
    prediction: "pred_1",
  });
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

test("the state of a model's page is in the address", () => {
  const state = {
    tab: "api",
    f: { prompt: "x" },
    from: "pred_1",
    run: "pred_2",
    view: "chat",
    chat: "1-2",
    range: "7d",
  };
  expect(modelSearch(state)).toEqual(state);
  expect(modelSearch({ tab: 1, f: "x", from: "../x", run: {}, view: "x", chat: 5, range: "1y" })).toEqual({});
});

test("filters of runs and approvals keep only what the pages know", () => {
  const filters = { status: "asking", agent: "agt_1", thread: "chat-1", q: "run_", from: "2030-01-01", page: 2 };
  expect(runsSearch({ ...filters, other: 1 })).toEqual(filters);
  expect(runsSearch({ status: "odd", agent: 7, from: "soon", page: 1 })).toEqual({});
  expect(runSearch({ step: "pred_1" })).toEqual({ step: "pred_1" });
  expect(runSearch({ step: "" })).toEqual({});
  expect(approvalsSearch({ status: "denied", page: 3 })).toEqual({ status: "denied", page: 3 });
  expect(approvalsSearch({ status: "pending" })).toEqual({});
});
