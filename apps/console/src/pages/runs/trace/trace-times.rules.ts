import type { RunTrace, TraceStep } from "@gantry/sdk";
import { liveEnd, type Span, type TimeScale, timeScale, union, without } from "./time-scale.rules.ts";

export interface RunTimes {
  workedMs: number;
  waitedMs: number;
}

type TimedRun = Pick<RunTrace, "status" | "phase" | "worked_ms" | "waited_ms">;

const isLive = ({ status }: Pick<TimedRun, "status">): boolean => status !== "done" && status !== "error";

/** The times of a live run `ageMs` after they were read. The clocks of server and browser are not compared. */
export function timesAfter(run: TimedRun, ageMs: number): RunTimes {
  const { worked_ms: workedMs, waited_ms: waitedMs, status, phase } = run;
  if (!isLive(run) || ageMs <= 0) return { workedMs, waitedMs };
  const isWaiting = status === "pending" || phase === "queued" || phase === "awaiting_confirmation";
  return isWaiting ? { workedMs, waitedMs: waitedMs + ageMs } : { workedMs: workedMs + ageMs, waitedMs };
}

/** When a step ran, from the start of the run. Steps under way last until `nowMs`. */
export function spanOf(step: TraceStep, startMs: number, nowMs: number): Span | undefined {
  if (step.started_at === null) return undefined;
  const from = Math.max(0, Date.parse(step.started_at) - startMs);
  const isOpen = step.status === "running" || step.status === "waiting";
  const to = step.ended_at !== null ? Date.parse(step.ended_at) - startMs : isOpen ? nowMs : from;
  return { from, to: Math.max(from, to) };
}

/** Share of the whole time. */
const shortestBreak = 0.05;

export interface TraceTimes {
  startMs: number;
  nowMs: number;
  scale: TimeScale;
}

/** `ageMs`: how long ago the trace was read. */
export function traceTimes(trace: RunTrace, ageMs: number): TraceTimes {
  const { workedMs, waitedMs } = timesAfter(trace, ageMs);
  const startMs = Date.parse(trace.created_at);
  const nowMs = workedMs + waitedMs;
  const spans = (wanted: readonly TraceStep["kind"][]) =>
    trace.steps
      .filter(({ kind }) => wanted.includes(kind))
      .map((step) => spanOf(step, startMs, nowMs))
      .filter((span) => span !== undefined);
  // Short waits are drawn like work: breaks in the axis must be worth their ink.
  const idle = without(spans(["queue", "wait"]), spans(["model", "tool"])).filter(
    ({ from, to }) => to - from > nowMs * shortestBreak,
  );
  const last = Math.max(nowMs, ...union(spans(["queue", "model", "tool", "agent", "wait"])).map(({ to }) => to));
  const waited = idle.reduce((sum, { from, to }) => sum + to - from, 0);
  // Room for what comes next is measured by what was done, not by how long an answer took.
  const end = isLive(trace) ? waited + liveEnd(last - waited) : last;
  return { startMs, nowMs, scale: timeScale(end, idle) };
}
