import type { Database, Sql } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import { type ClockReading, judgeClock } from "./clock-trust.rules.ts";

/** The database's clock, which all processes share. */
export interface TrustedClock {
  /** Nothing may be deleted or closed by a time that is not trusted. */
  read(): Promise<{ now: Date; isTrusted: boolean }>;
}

export function watchClock({ database: { sql }, log }: { database: Database; log: Log }): TrustedClock {
  let last: ClockReading | undefined;
  let isDoubted = false;

  return {
    async read() {
      const { now, trustedUntil, steadyMs } = await selectTime(sql);
      const reading = { now: now.getTime(), upMs: performance.now() };
      const known = { ...(trustedUntil && { trustedUntil: trustedUntil.getTime() }), ...(last && { last }), steadyMs };
      const verdict = judgeClock(reading, known);
      last = reading;
      if (!verdict.isTrusted && !isDoubted) {
        log.warn(
          { now, trusted_until: trustedUntil },
          "The database's clock is far from its last trusted time. No data is deleted until it has run steadily for three hours.",
        );
      } else if (verdict.isTrusted && isDoubted) log.info({ now }, "The database's clock is trusted again");
      isDoubted = !verdict.isTrusted;
      if (verdict.isTrusted) await storeTrusted(sql, now);
      else await sql`update clock_marks set steady_ms = ${verdict.steadyMs}`;
      return { now, isTrusted: verdict.isTrusted };
    },
  };
}

async function selectTime(sql: Sql): Promise<{ now: Date; trustedUntil: Date | undefined; steadyMs: number }> {
  const [row] = await sql<[{ now: Date; trusted: Date | null; steady: number | null }]>`
    select clock_timestamp() as now, m.trusted_until as trusted, m.steady_ms::float8 as steady
    from (values (1)) as one left join clock_marks m on true`;
  return { now: row.now, trustedUntil: row.trusted ?? undefined, steadyMs: row.steady ?? 0 };
}

async function storeTrusted(sql: Sql, until: Date): Promise<void> {
  await sql`
    insert into clock_marks (trusted_until) values (${until})
    on conflict (only_one) do update set trusted_until = excluded.trusted_until, steady_ms = 0`;
}
