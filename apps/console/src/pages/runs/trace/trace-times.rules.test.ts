import type { RunTrace, TraceStep } from "@gantry/sdk";
import { expect, test } from "vitest";
import { spanOf, timesAfter, traceTimes } from "./trace-times.rules.ts";

const start = Date.parse("2030-01-01T00:00:00.000Z");
const at = (ms: number) => new Date(start + ms).toISOString();
const step = (kind: TraceStep["kind"], from: number | null, to: number | null, status = "done") =>
  ({
    ...{ id: `${kind}${from}`, parent_id: null, kind, status },
    ...{ started_at: from === null ? null : at(from), ended_at: to === null ? null : at(to) },
  }) as TraceStep;
const trace = (changes: Partial<RunTrace>) =>
  ({
    status: "done",
    phase: "ended",
    created_at: at(0),
    worked_ms: 0,
    waited_ms: 0,
    steps: [],
    ...changes,
  }) as RunTrace;

test("the clock of a live run goes on between two reads, on the side that it is on", () => {
  const run = { worked_ms: 1_000, waited_ms: 500 };
  expect(timesAfter({ ...run, status: "running", phase: "working" }, 300)).toEqual({ workedMs: 1_300, waitedMs: 500 });
  expect(timesAfter({ ...run, status: "running", phase: "awaiting_confirmation" }, 300)).toEqual({
    workedMs: 1_000,
    waitedMs: 800,
  });
  expect(timesAfter({ ...run, status: "pending", phase: "queued" }, 300).waitedMs).toBe(800);
  expect(timesAfter({ ...run, status: "done", phase: "ended" }, 300)).toEqual({ workedMs: 1_000, waitedMs: 500 });
});

test("steps under way last until now; others keep their end", () => {
  expect(spanOf(step("tool", 100, null, "running"), start, 900)).toEqual({ from: 100, to: 900 });
  expect(spanOf(step("tool", 100, 300), start, 900)).toEqual({ from: 100, to: 300 });
  expect(spanOf(step("tool", 100, null, "cancelled"), start, 900)).toEqual({ from: 100, to: 100 });
  expect(spanOf(step("tool", null, null, "waiting"), start, 900)).toBeUndefined();
});

test("the wait for an answer is shortened, unless work went on meanwhile", () => {
  const steps = [step("model", 0, 1_000), step("wait", 1_000, 61_000), step("tool", 61_000, 62_000)];
  const alone = traceTimes(trace({ worked_ms: 2_000, waited_ms: 60_000, steps }), 0);
  expect(alone.scale.breaks).toEqual([expect.objectContaining({ ms: 60_000 })]);
  const beside = [...steps, step("tool", 1_000, 61_000)];
  expect(traceTimes(trace({ worked_ms: 62_000, steps: beside }), 0).scale.breaks).toEqual([]);
});

test("finished bars of a live run stay where they are while the clock goes on", () => {
  const steps = [step("model", 0, 10_000), step("tool", 10_000, null, "running")];
  const live = trace({ status: "running", phase: "working", worked_ms: 10_100, steps });
  const [first, second] = [traceTimes(live, 0), traceTimes(live, 1_000)];
  expect(first.scale.at(10_000)).toBe(second.scale.at(10_000));
  expect(second.nowMs).toBe(11_100);
});
