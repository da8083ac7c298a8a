import type { Tone } from "./toast.ts";

export interface StatusWord {
  word: string;
  tone: Tone;
}

/** Statuses of predictions, of runs and of the steps of a run. */
const words: Readonly<Record<string, StatusWord>> = {
  waiting: { word: "Waiting", tone: "plain" },
  pending: { word: "Waiting", tone: "plain" },
  queued: { word: "Waiting", tone: "plain" },
  running: { word: "Running", tone: "info" },
  succeeded: { word: "Succeeded", tone: "good" },
  done: { word: "Succeeded", tone: "good" },
  cancelled: { word: "Cancelled", tone: "plain" },
  denied: { word: "Denied", tone: "warn" },
};

const refused: StatusWord = { word: "Refused", tone: "bad" };
const timedOut: StatusWord = { word: "Timed out", tone: "bad" };
const failed: StatusWord = { word: "Failed", tone: "bad" };

/**
 * A status as people say it.
 * @param code Of a failure: the HTTP status of a prediction, or the error type of a run.
 */
export function statusWord(status: string, code?: number | string | null): StatusWord {
  return words[status] ?? failureWord(code);
}

function failureWord(code: number | string | null | undefined): StatusWord {
  if (code === 499 || code === "cancelled") return { word: "Cancelled", tone: "plain" };
  if (code === 504 || code === 408 || code === "timeout") return timedOut;
  const isRefusal = typeof code === "number" ? code < 500 : code === "invalid_input" || code === "insufficient_funds";
  return isRefusal ? refused : failed;
}
