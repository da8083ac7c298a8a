import { codeOf, isDiskFull } from "./unavailable.ts";

/**
 * What the system, or a server that just started, says of a full disk names no place: this says which, and what to do.
 * Other errors stay as they are.
 */
export function orNoRoomIn(place: string, error: unknown): unknown {
  const isFull = ["ENOSPC", "EDQUOT"].includes(codeOf(error)) || isDiskFull(error);
  if (!isFull || !(error instanceof Error)) return error;
  return noRoomIn(place, error.cause instanceof Error ? error.cause.message : error.message, error);
}

export function noRoomIn(place: string, reason: string, cause?: unknown): Error {
  return new Error(`There is no room left on the disk of ${place}: make some, then try again. ${reason}`, { cause });
}
