import { expect, it } from "vitest";
import { fault } from "../../kernel/errors.ts";
import { onTimeMs } from "./due.rules.ts";
import { agentGone, judgeRefusal, mostRefusals, mostTries } from "./refusal.rules.ts";

const judge = (error: unknown, { tries = 1, refusals = 0 } = {}) => judgeRefusal(error, { tries, refusals, random: 1 });
const poor = fault("insufficient_funds", "Balance is $0");
const limited = fault("rate_limit", "Too many requests", { retryAfterSeconds: 20 });

it("overload is retried while the due time is on time, then skipped", () => {
  let waitedMs = 0;
  for (let tries = 1; tries < mostTries; tries++) {
    const verdict = judge(new Error("bug"), { tries });
    expect(verdict.kind).toBe("retry");
    waitedMs += verdict.kind === "retry" ? verdict.delayMs : 0;
  }
  expect(waitedMs).toBeLessThan(onTimeMs);
  expect(judge(limited)).toEqual({ kind: "retry", delayMs: 20_000 });
  const full = fault("conflict", "The thread is full", { retryable: true });
  expect(judge(full).kind).toBe("retry");
  expect(judge(full, { tries: mostTries })).toEqual({ kind: "skip", reason: "The thread is full" });
  expect(judge(limited, { tries: mostTries })).toEqual({ kind: "skip", reason: "Too many requests" });
  expect(judge(new Error("bug"), { tries: mostTries })).toEqual({
    kind: "skip",
    reason: "Gantry failed to create the run.",
  });
});

it("a low balance skips due times at once, and pauses the schedule after some in a row", () => {
  expect(judge(poor)).toEqual({ kind: "skip", reason: "Balance is $0" });
  expect(judge(poor, { refusals: mostRefusals - 1 })).toEqual({
    kind: "pause",
    reason: "5 due times in a row created no run. Balance is $0. Add credit, then enable the schedule again.",
  });
});

it.each([
  [fault("not_found", "Agent not found"), agentGone],
  [fault("agent_not_published", "The agent has no published revision"), agentGone],
  [fault("conflict", "The price is now $2.", { loc: ["body", "expected_price"] }), "change expected_price"],
  [fault("forbidden", "API key does not have access"), "access. Enable the schedule again with another key."],
  [fault("value_error", "Must be text", { loc: ["body", "input", "city"] }), "input.city: Must be text. Correct"],
  [fault("conflict", "The agent's model a/b no longer exists"), "no longer exists. Enable the schedule again when"],
])("%s pauses the schedule and says what to do", (error, text) => {
  expect(judge(error)).toEqual({ kind: "pause", reason: expect.stringContaining(text) });
});
