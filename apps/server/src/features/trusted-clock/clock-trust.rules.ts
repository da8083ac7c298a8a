const hourMs = 3_600_000;
/** Longer than a server is usually away over a weekend night; whatever is let go of too early by this is near its end. */
const farMs = 48 * hourMs;
/** So long a clock that stands far from what was known is doubted. Whoever set it wrongly has noticed by then. */
const doubtMs = 3 * hourMs;
/** Between two readings the clock must go on as time does; a machine that slept says otherwise, and so does a jump. */
const driftAllowedMs = hourMs;

/** Milliseconds since 1970 by the database, and of this process's own time, which nobody sets. */
export interface ClockReading {
  now: number;
  upMs: number;
}

/**
 * Whether data may be let go of on the word of a clock. One that stands far from the latest moment at which it was
 * believed may be right, after a long pause, or wrong: so it is doubted, and believed when it has gone on steadily for
 * some hours, however many times it was looked at and by how many processes. `last`: the reading before, of this process;
 * `steadyMs`: how long it has gone on so far, to be given back next time.
 */
export function judgeClock(
  reading: ClockReading,
  { trustedUntil, steadyMs, last }: { trustedUntil?: number; steadyMs: number; last?: ClockReading },
): { isTrusted: boolean; steadyMs: number } {
  const isNear = trustedUntil !== undefined && Math.abs(reading.now - trustedUntil) <= farMs;
  const lastedMs = last ? reading.upMs - last.upMs : 0;
  const driftMs = last ? reading.now - last.now - lastedMs : 0;
  const soFarMs = Math.abs(driftMs) > driftAllowedMs ? steadyMs : steadyMs + lastedMs;
  const isTrusted = isNear || soFarMs >= doubtMs;
  return { isTrusted, steadyMs: isTrusted ? 0 : Math.round(soFarMs) };
}

/** A few seconds: what people notice, and what waiting for an answer does not explain. */
const offMs = 5_000;

/** Whether it is worth a word how far two clocks are apart, where `toldMs` was said last (0: that they agree). */
export function isNewDifference(differenceMs: number, toldMs: number): boolean {
  const isOff = Math.abs(differenceMs) > offMs;
  return isOff ? Math.abs(differenceMs - toldMs) > offMs : toldMs !== 0;
}
