import type { TraceStep } from "@gantry/sdk";
import { expect, test } from "vitest";
import { ancestorsOf, closedAtFirst, moveByKey, rootId, traceTree, treeRows } from "./trace-tree.rules.ts";

const step = (id: string, parent_id: string | null = null, kind: TraceStep["kind"] = "tool") =>
  ({ id, parent_id, kind }) as TraceStep;
const steps = [step("a"), step("b", null, "agent"), step("b1", "b"), step("b2", "b"), step("c")];
const rowsOf = (closed: string[] = []) => treeRows(traceTree(steps), new Set(closed));

test("steps of sub-agents are nested below their step", () => {
  expect(rowsOf().map(({ id, level }) => [id, level])).toEqual([
    [rootId, 1],
    ["a", 2],
    ["b", 2],
    ["b1", 3],
    ["b2", 3],
    ["c", 2],
  ]);
  expect(rowsOf().find(({ id }) => id === "b2")).toMatchObject({ position: 2, siblings: 2, parentId: "b" });
  expect(rowsOf(["b"]).map(({ id }) => id)).toEqual([rootId, "a", "b", "c"]);
  expect(rowsOf([rootId]).map(({ id }) => id)).toEqual([rootId]);
});

test("no step is lost when its parent is missing", () => {
  const rows = treeRows(traceTree([step("x", "gone"), step("y", "y")]), new Set());
  expect(rows.map(({ id }) => id)).toEqual([rootId, "x", "y"]);
});

test("keys move, open and close", () => {
  const rows = rowsOf(["b"]);
  expect(moveByKey(rows, "a", "ArrowDown")).toEqual({ kind: "focus", id: "b" });
  expect(moveByKey(rows, rootId, "ArrowUp")).toBeUndefined();
  expect(moveByKey(rows, "b", "ArrowRight")).toEqual({ kind: "open", id: "b" });
  expect(moveByKey(rowsOf(), "b", "ArrowRight")).toEqual({ kind: "focus", id: "b1" });
  expect(moveByKey(rowsOf(), "b", "ArrowLeft")).toEqual({ kind: "close", id: "b" });
  expect(moveByKey(rowsOf(), "b1", "ArrowLeft")).toEqual({ kind: "focus", id: "b" });
  expect(moveByKey(rows, "a", "End")).toEqual({ kind: "focus", id: "c" });
  expect(moveByKey(rows, "c", "Home")).toEqual({ kind: "focus", id: rootId });
  expect(moveByKey(rows, "a", "ArrowRight")).toBeUndefined();
  expect(moveByKey(rows, "gone", "ArrowDown")).toBeUndefined();
});

test("only long traces start with closed sub-agents, and a linked step is reachable", () => {
  expect(closedAtFirst(steps).size).toBe(0);
  const long = [...steps, ...Array.from({ length: 300 }, (_, n) => step(`s${n}`, "b"))];
  expect([...closedAtFirst(long)]).toEqual(["b"]);
  expect(ancestorsOf(long, "s7")).toEqual(["b"]);
  expect(ancestorsOf(long, "gone")).toEqual([]);
});

test("a short queue of a sub-agent is left out", () => {
  const queue = (id: string, parent_id: string | null, duration_ms: number, status = "done") =>
    ({ id, parent_id, kind: "queue", status, duration_ms }) as TraceStep;
  const queues = [
    queue("own", null, 1),
    queue("short", "b", 20),
    queue("long", "b", 900),
    queue("open", "b", 0, "running"),
  ];
  const rows = treeRows(traceTree([...steps, ...queues]), new Set());
  expect(rows.filter(({ step }) => step?.kind === "queue").map(({ id }) => id)).toEqual(["long", "open", "own"]);
});
