import { Fault } from "./errors.ts";

/** One sentence for operators. The text of a fault is for clients, so its cause is added. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof Fault) || error.cause === undefined) return messageOf(error);
  const cause = describeError(error.cause);
  return error.message.includes(cause) ? error.message : `${error.message} ${cause}`;
}

/** An AggregateError has no message of its own: each address that was tried has one. */
function messageOf(error: Error): string {
  return error instanceof AggregateError ? error.errors.map(describeError).join(", ") : error.message;
}
