import type { GantryError } from "./errors.ts";

const firstPauseMs = 500;
const longestPauseMs = 8_000;
/** Who is asked to wait longer than a minute decides that itself. */
const longestAskedSeconds = 60;

/**
 * Whether a request that failed may be sent again without doing anything twice: one that changes nothing, one that the
 * service knows again by its Idempotency-Key, and one that it refused at the door. `headers` are those of the answer.
 */
export function mayRepeat(
  request: { method: string; idempotencyKey?: string | undefined },
  failure: GantryError,
  headers: Headers | undefined,
): boolean {
  if (!failure.retryable) return false;
  if (request.method === "GET" || request.method === "HEAD" || request.idempotencyKey !== undefined) return true;
  const isRefusal = failure.status === 429 || failure.status === 503;
  // An upstream's 503 is that of a prediction which was accepted, and may have been at work.
  return isRefusal && headers?.get("x-service-retryable") === "true" && failure.predictionId === undefined;
}

/** How long to wait before the next try, or nothing when that is too long. `tried` counts from 0. */
export function pauseBefore(failure: GantryError, tried: number, chance = Math.random()): number | undefined {
  if (failure.retryAfter !== undefined) {
    return failure.retryAfter > longestAskedSeconds ? undefined : failure.retryAfter * 1000;
  }
  // Between half and all of it, so that many clients do not come back at the same moment.
  return Math.min(longestPauseMs, firstPauseMs * 2 ** tried) * (0.5 + chance / 2);
}
