import type { FileLink } from "@gantry/sdk";
import type { TextTimes } from "./run-figures.rules.ts";

/** A prediction in the playground. */
export interface Run {
  startedAt: number;
  endedAt?: number;
  /** By the clock of the browser, which the other times are not. Unknown if the page was opened later. */
  watched?: TextTimes;
  /** Set once the prediction is accepted. */
  predictionId?: string;
  /** Before there was an id. */
  isCancelling?: boolean;
  state: "open" | "done" | "cancelled" | "failed";
  /** Streamed text so far. */
  text: string;
  output: Readonly<Record<string, unknown>>;
  files: Readonly<Record<string, FileLink>>;
  error?: unknown;
  /** Sent with an Idempotency-Key but not confirmed: sending it again does not start a second run. */
  mayBeAccepted?: boolean;
}

export type RunChange = (run: Run) => Partial<Run>;

export const newRun = (startedAt: number): Run => ({ startedAt, state: "open", text: "", output: {}, files: {} });
