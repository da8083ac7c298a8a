import type { Database } from "../../engines/database/database.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { type ClockReading, isNewDifference, judgeClock } from "./clock-trust.rules.ts";
import { noteDoubted, noteTrusted, selectTime } from "./store.ts";

/** The clock of whoever lets go of data: the database's, which is one for all processes. */
export interface TrustedClock {
  /** Where it is not trusted, nothing may be closed or deleted on its word. */
  read(): Promise<{ now: Date; isTrusted: boolean }>;
}

/** Tells the log when the database's clock is doubted, and when this process's own is another. */
export function watchClock({
  database,
  log,
  clock,
  upMs = () => performance.now(),
}: {
  database: Database;
  log: Log;
  clock: Clock;
  upMs?: () => number;
}): TrustedClock {
  let last: ClockReading | undefined;
  let isDoubted = false;
  let toldMs = 0;

  function compareWithOwn(now: Date, askedAt: number, answeredAt: number): void {
    // It was read somewhere between the question and the answer.
    const own = clock.now().getTime() - (answeredAt - askedAt) / 2;
    const aheadMs = Math.round(own - now.getTime());
    if (!isNewDifference(aheadMs, toldMs)) return;
    const isOff = isNewDifference(aheadMs, 0);
    toldMs = isOff ? aheadMs : 0;
    if (isOff) log.warn({ ahead_ms: aheadMs }, "The clock of this process and that of the database differ");
    else log.info("The clock of this process and that of the database agree again");
  }

  return {
    async read() {
      const askedAt = upMs();
      const { now, trustedUntil, steadyMs } = await selectTime(database.sql);
      const answeredAt = upMs();
      compareWithOwn(now, askedAt, answeredAt);
      const reading = { now: now.getTime(), upMs: answeredAt };
      const known = { ...(trustedUntil && { trustedUntil: trustedUntil.getTime() }), ...(last && { last }), steadyMs };
      const verdict = judgeClock(reading, known);
      last = reading;
      if (!verdict.isTrusted && !isDoubted) {
        log.warn(
          { now, trusted_until: trustedUntil },
          "The database's clock stands far from all that was known: nothing is let go of before it has gone on for three hours",
        );
      } else if (verdict.isTrusted && isDoubted) log.info({ now }, "The database's clock is believed again");
      isDoubted = !verdict.isTrusted;
      if (verdict.isTrusted) await noteTrusted(database.sql, now);
      else await noteDoubted(database.sql, verdict.steadyMs);
      return { now, isTrusted: verdict.isTrusted };
    },
  };
}
