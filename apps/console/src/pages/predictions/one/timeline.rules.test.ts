import { describe, expect, it } from "vitest";
import { phasesOf } from "./timeline.rules.ts";

const created_at = "2026-01-31T12:00:00.000Z";
const now = Date.parse("2026-01-31T12:00:10.000Z");
const waiting = {
  status: "waiting" as const,
  created_at,
  started_at: null,
  queued_time: null,
  inference_time: null,
};

describe("the timeline of a prediction", () => {
  it("grows while it waits and while it runs", () => {
    expect(phasesOf(waiting, now)).toEqual([{ name: "queued", seconds: 10, isOpen: true, share: 100 }]);
    const running = { ...waiting, status: "running" as const, started_at: "2026-01-31T12:00:04.000Z", queued_time: 4 };
    expect(phasesOf(running, now)).toEqual([
      { name: "queued", seconds: 4, isOpen: false, share: 40 },
      { name: "ran", seconds: 6, isOpen: true, share: 60 },
    ]);
  });

  it("shows a short phase beside a long one", () => {
    const ended = { ...waiting, status: "succeeded" as const, queued_time: 0.001, inference_time: 60 };
    const [queued, ran] = phasesOf(ended, now);
    expect(queued?.share).toBeGreaterThan(1);
    expect((queued?.share ?? 0) + (ran?.share ?? 0)).toBeCloseTo(100);
  });

  it("leaves a phase without time out of the bar", () => {
    const ended = { ...waiting, status: "succeeded" as const, queued_time: 0, inference_time: 1 };
    expect(phasesOf(ended, now).map(({ share }) => share)).toEqual([0, 100]);
    expect(phasesOf({ ...ended, inference_time: 0 }, now).map(({ share }) => share)).toEqual([0, 0]);
  });

  it("has no phases if nothing is known", () => {
    expect(phasesOf({ ...waiting, status: "cancelled" }, now)).toEqual([]);
  });
});
