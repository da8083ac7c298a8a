import { Fault } from "./errors.ts";

/**
 * A failure in one sentence for whoever starts or operates a server. A fault has words for clients; here its cause is
 * what helps.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof Fault) || error.cause === undefined) return wordsOf(error);
  const cause = describeError(error.cause);
  return error.message.includes(cause) ? error.message : `${error.message} ${cause}`;
}

/** Of several addresses that were tried each says its own, and all together nothing. */
function wordsOf(error: Error): string {
  return error instanceof AggregateError ? error.errors.map(describeError).join(", ") : error.message;
}
