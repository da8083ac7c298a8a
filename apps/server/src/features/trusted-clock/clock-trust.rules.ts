const hourMs = 3_600_000;
/** Longer than a weekend without a server. Data deleted too early by this much is near its end anyway. */
const farMs = 48 * hourMs;
/** Time for an operator to notice a clock that was set wrong. */
const doubtMs = 3 * hourMs;
/** Between two readings the clock must advance like monotonic time. Sleeping machines and jumps differ by more. */
const driftAllowedMs = hourMs;

/** Milliseconds since 1970 by the database, and of this process's monotonic clock. */
export interface ClockReading {
  now: number;
  upMs: number;
}

/**
 * Whether data may be deleted by this clock. A clock far from the last trusted time may be right, after a long pause, or
 * wrong. It is trusted again after it has run steadily for some hours of uptime, over any number of processes. `last` is
 * this process's previous reading; `steadyMs` is stored and passed to the next call.
 */
export function judgeClock(
  reading: ClockReading,
  { trustedUntil, steadyMs, last }: { trustedUntil?: number; steadyMs: number; last?: ClockReading },
): { isTrusted: boolean; steadyMs: number } {
  const isNear = trustedUntil !== undefined && Math.abs(reading.now - trustedUntil) <= farMs;
  const elapsedMs = last ? reading.upMs - last.upMs : 0;
  const driftMs = last ? reading.now - last.now - elapsedMs : 0;
  const soFarMs = Math.abs(driftMs) > driftAllowedMs ? steadyMs : steadyMs + elapsedMs;
  const isTrusted = isNear || soFarMs >= doubtMs;
  return { isTrusted, steadyMs: isTrusted ? 0 : Math.round(soFarMs) };
}
