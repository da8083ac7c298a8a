const hourMs = 3_600_000;
/** Longer than a server is usually away over a weekend night; whatever is let go of too early by this is near its end. */
const farMs = 48 * hourMs;
/** So long a clock that stands far from what was known is doubted. Whoever set it wrongly has noticed by then. */
const doubtMs = 3 * hourMs;
/** Within a doubt the clock must go on as time does. */
const steadyMs = hourMs;

/** Milliseconds since 1970 by the database, and of this process's own time, which nobody sets. */
export interface ClockReading {
  now: number;
  upMs: number;
}

/**
 * Whether data may be let go of on the word of a clock. One that stands far from the latest moment at which it was
 * believed may be right, after a long pause, or wrong: so it is doubted, and believed when it has said the same for some
 * hours. `doubtedSince` is the reading with which the doubt began, to be given back next time.
 */
export function judgeClock(
  reading: ClockReading,
  trustedUntil: number | undefined,
  doubtedSince: ClockReading | undefined,
): { isTrusted: boolean; doubtedSince: ClockReading | undefined } {
  if (trustedUntil !== undefined && Math.abs(reading.now - trustedUntil) <= farMs) {
    return { isTrusted: true, doubtedSince: undefined };
  }
  if (!doubtedSince) return { isTrusted: false, doubtedSince: reading };
  const lastedMs = reading.upMs - doubtedSince.upMs;
  const driftMs = reading.now - doubtedSince.now - lastedMs;
  if (Math.abs(driftMs) > steadyMs) return { isTrusted: false, doubtedSince: reading };
  return lastedMs < doubtMs ? { isTrusted: false, doubtedSince } : { isTrusted: true, doubtedSince: undefined };
}

/** A few seconds: what people notice, and what waiting for an answer does not explain. */
const offMs = 5_000;

/** Whether it is worth a word how far two clocks are apart, where `toldMs` was said last (0: that they agree). */
export function isNewDifference(differenceMs: number, toldMs: number): boolean {
  const isOff = Math.abs(differenceMs) > offMs;
  return isOff ? Math.abs(differenceMs - toldMs) > offMs : toldMs !== 0;
}
