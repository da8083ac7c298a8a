import type { OutputValue, TokenUsage } from "../../engines/models/driver.ts";
import type { Fault } from "../../kernel/errors.ts";
import type { Micros } from "../../kernel/money.ts";

/**
 * The life of a prediction. Terminal is terminal: an ended prediction never changes.
 *
 *   (accepted) ──► waiting ──► running ──► ended: 200 done | 499 cancelled | 4xx/5xx failed
 *        └───────────────────────┘└─ the slot of the model is held exactly while it runs
 */
export type Route = "sync" | "stream" | "async" | "agent";

/** Output as it is stored and sent: files have become `s3://` addresses. */
export type StoredOutput = Record<string, Exclude<OutputValue, { kind: "file" }>>;

/** What a run came to, before it is written down. */
export type Outcome =
  | { kind: "done"; output: StoredOutput; usage: TokenUsage | undefined; inferenceMs: number; price: Micros }
  | { kind: "failed"; fault: Fault; usage: TokenUsage | undefined; inferenceMs: number | undefined; price: Micros };

/** What did not start, or was lost with its node: nothing was used, nothing is charged. */
export function endedUnused(fault: Fault): Outcome {
  return { kind: "failed", fault, usage: undefined, inferenceMs: undefined, price: 0 };
}

export function statusOf(outcome: Outcome): number {
  return outcome.kind === "done" ? 200 : outcome.fault.status;
}
