import { Fault } from "../../kernel/errors.ts";

/** Tries for one due time. Their delays add up to less than the time in which it is on time. */
export const mostTries = 6;
/** Due times in a row without a run, after which the schedule pauses. */
export const mostRefusals = 5;
const firstDelayMs = 5_000;
const longestDelayMs = 60_000;

export type Verdict =
  | { kind: "retry"; delayMs: number }
  /** No run for this due time. */
  | { kind: "skip"; reason: string }
  | { kind: "pause"; reason: string };

export const keyStopped =
  "The API key of this schedule was revoked or has expired, or its user is disabled. Enable the schedule again with a working key: runs use the key of that request.";
export const agentGone =
  "The agent was deleted, unpublished, hidden or taken down, or the key of this schedule may no longer run it. Delete the schedule, or enable it again when the agent is back.";

/**
 * What follows when a run of a schedule was not accepted. Overload passes, so the due time is tried again. A low balance may
 * be temporary, so only this due time is lost. Everything else needs a change by the user.
 */
export function judgeRefusal(
  error: unknown,
  { tries, refusals, random }: { tries: number; refusals: number; random: number },
): Verdict {
  const isPoor = error instanceof Fault && error.type === "insufficient_funds";
  const isTemporary = !(error instanceof Fault) || error.retryable;
  if (!isPoor && !isTemporary) return { kind: "pause", reason: pauseReason(error) };
  if (isTemporary && tries < mostTries) return { kind: "retry", delayMs: delayOf(error, tries, random) };
  const reason = error instanceof Fault ? error.issues[0].msg : "Gantry failed to create the run.";
  if (refusals + 1 < mostRefusals) return { kind: "skip", reason };
  const advice = isPoor
    ? "Add credit, then enable the schedule again."
    : "Enable the schedule again, or spread your schedules over more time.";
  return { kind: "pause", reason: `${mostRefusals} due times in a row created no run. ${sentence(reason)} ${advice}` };
}

/** Jitter spreads schedules that were refused together. */
function delayOf(error: unknown, tries: number, random: number): number {
  const asked = error instanceof Fault ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  const backoff = firstDelayMs * 2 ** (tries - 1);
  return Math.round(Math.min(longestDelayMs, Math.max(asked, backoff)) * (0.75 + random / 4));
}

function pauseReason(error: Fault): string {
  const { type, msg, loc } = error.issues[0];
  if (type === "not_found" || type === "agent_not_published") return agentGone;
  if (loc[1] === "expected_price")
    return `${sentence(msg)} To accept it, change expected_price and enable the schedule.`;
  if (type === "forbidden") return `${sentence(msg)} Enable the schedule again with another key.`;
  if (error.status === 422) {
    const at = loc.slice(1).join(".");
    return `The agent no longer accepts the run: ${at === "" ? "" : `${at}: `}${sentence(msg)} Correct the schedule and enable it again.`;
  }
  return `${sentence(msg)} Enable the schedule again when this is solved.`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
