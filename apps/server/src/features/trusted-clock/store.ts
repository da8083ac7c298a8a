import type { Sql } from "../../engines/database/database.ts";

/** The database's time, and how far it was believed before; undefined: that is not known. */
export async function selectTime(sql: Sql): Promise<{ now: Date; trustedUntil: Date | undefined }> {
  const [row] = await sql<[{ now: Date; trusted: Date | null }]>`
    select clock_timestamp() as now, (select trusted_until from clock_marks) as trusted`;
  return { now: row.now, trustedUntil: row.trusted ?? undefined };
}

export async function noteTrusted(sql: Sql, until: Date): Promise<void> {
  await sql`
    insert into clock_marks (trusted_until) values (${until})
    on conflict (only_one) do update set trusted_until = excluded.trusted_until`;
}
