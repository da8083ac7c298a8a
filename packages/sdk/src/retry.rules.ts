import type { GantryError } from "./errors.ts";

const firstPauseMs = 500;
const longestPauseMs = 8_000;
/** The caller decides about waits above a minute. */
const longestAskedSeconds = 60;

/**
 * Whether a failed request may be retried without side effects: reads, requests with an Idempotency-Key, and requests
 * refused before they were accepted.
 */
export function mayRepeat(
  request: { method: string; idempotencyKey?: string | undefined },
  failure: GantryError,
  headers: Headers | undefined,
): boolean {
  if (!failure.retryable) return false;
  if (request.method === "GET" || request.method === "HEAD" || request.idempotencyKey !== undefined) return true;
  // A 503 without Retry-After may follow a write that was stored, such as a commit whose answer was lost.
  const isRefusal = failure.status === 429 || (failure.status === 503 && failure.retryAfter !== undefined);
  // A 503 with a prediction id is from the upstream of an accepted prediction.
  return isRefusal && headers?.get("x-service-retryable") === "true" && failure.predictionId === undefined;
}

/** The pause before the next try; undefined if it is too long. `tried` counts from 0. */
export function pauseBefore(failure: GantryError, tried: number, chance = Math.random()): number | undefined {
  if (failure.retryAfter !== undefined) {
    return failure.retryAfter > longestAskedSeconds ? undefined : failure.retryAfter * 1000;
  }
  // Jitter, so that clients do not retry at the same moment.
  return Math.min(longestPauseMs, firstPauseMs * 2 ** tried) * (0.5 + chance / 2);
}

/** Resolves after a time; rejects as soon as the signal is aborted. */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
