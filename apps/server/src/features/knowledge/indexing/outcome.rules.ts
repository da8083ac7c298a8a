import { Fault, isUnavailable } from "../../../kernel/errors.ts";

/** Another node works on the file, or its content has changed: nothing may be written. */
export class ClaimLost extends Error {
  constructor() {
    super("The claim of the file was lost");
    this.name = "ClaimLost";
  }
}

/** The index waits: for its owner, or for `retryInMs`. */
export class IndexPaused extends Error {
  readonly retryInMs: number | null;

  constructor(reason: string, retryInMs: number | null) {
    super(reason);
    this.name = "IndexPaused";
    this.retryInMs = retryInMs;
  }
}

/** The model fails for texts of the file and embeds another one: the file is the cause, not the backend. */
export class FileFailure extends Error {
  constructor(cause: Fault) {
    super(`The embedding model fails for this file, but not for other text: ${cause.message}`, { cause });
    this.name = "FileFailure";
  }
}

const minuteMs = 60_000;
export const keyGone = () =>
  new IndexPaused("The API key that set up the index no longer works. Save the index again with another key.", null);
export const modelGone = (message: string) => new IndexPaused(message, 10 * minuteMs);

export type Next =
  | { kind: "lost" }
  | { kind: "pause"; reason: string; retryInMs: number | null }
  /** Without a count: the file is not the cause. */
  | { kind: "later"; inMs: number }
  | { kind: "retry"; inMs: number; reason: string }
  | { kind: "fail"; reason: string };

const noFunds =
  "The balance or the monthly limit of the key does not cover the embeddings. Add credit: the index resumes within five minutes.";

const mostAttempts = 3;
const firstRetryMs = 10_000;
const busyMs = 10_000;

/** What happens to a file whose indexing was rejected with this error. */
export function nextOf(error: unknown, attempts: number, isStopping: boolean): Next {
  if (error instanceof ClaimLost) return { kind: "lost" };
  if (isStopping) return { kind: "later", inMs: 0 };
  if (error instanceof IndexPaused) return { kind: "pause", reason: error.message, retryInMs: error.retryInMs };
  if (isUnavailable(error)) return { kind: "later", inMs: 5_000 };
  const isPublic = error instanceof Fault || error instanceof FileFailure;
  const message = isPublic ? error.message : "An internal error prevented indexing.";
  if (error instanceof Fault) {
    if (error.status === 429) return { kind: "later", inMs: (error.retryAfterSeconds ?? 0) * 1_000 || busyMs };
    if (error.type === "insufficient_funds") return { kind: "pause", reason: noFunds, retryInMs: 5 * minuteMs };
    if (["unauthorized", "forbidden", "not_found"].includes(error.type)) {
      return { kind: "pause", reason: message, retryInMs: 10 * minuteMs };
    }
    if (error.retryable) {
      return { kind: "pause", reason: `The embedding model failed: ${message}`, retryInMs: minuteMs };
    }
  }
  if (attempts >= mostAttempts) return { kind: "fail", reason: message };
  return { kind: "retry", inMs: firstRetryMs * 4 ** (attempts - 1), reason: message };
}

/** Whether the texts of a failed call may be the cause. Limits and outages of Gantry itself have other causes. */
export function mayBeCausedByTexts(error: unknown): error is Fault {
  if (!(error instanceof Fault) || !error.retryable || isUnavailable(error)) return false;
  return error.status !== 429 && error.issues[0].ctx?.upstream_status !== 429;
}

/** The file was claimed more often than attempts may fail: the nodes ended without an error. */
export function hasKilledNodes(attempts: number): boolean {
  return attempts > mostAttempts;
}
