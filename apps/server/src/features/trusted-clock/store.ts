import type { Sql } from "../../engines/database/database.ts";

/** The database's time, how far it was believed before, if that is known, and how long it has gone on since. */
export async function selectTime(sql: Sql): Promise<{ now: Date; trustedUntil: Date | undefined; steadyMs: number }> {
  const [row] = await sql<[{ now: Date; trusted: Date | null; steady: number | null }]>`
    select clock_timestamp() as now, m.trusted_until as trusted, m.steady_ms::float8 as steady
    from (values (1)) as one left join clock_marks m on true`;
  return { now: row.now, trustedUntil: row.trusted ?? undefined, steadyMs: row.steady ?? 0 };
}

export async function noteTrusted(sql: Sql, until: Date): Promise<void> {
  await sql`
    insert into clock_marks (trusted_until) values (${until})
    on conflict (only_one) do update set trusted_until = excluded.trusted_until, steady_ms = 0`;
}

export async function noteDoubted(sql: Sql, steadyMs: number): Promise<void> {
  await sql`update clock_marks set steady_ms = ${steadyMs}`;
}
