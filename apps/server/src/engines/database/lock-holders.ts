import type { Sql } from "./database.ts";

/** Any number; all nodes must use the same. */
export const migrationLock = 7_242_001;

interface Holder {
  pid: number;
  application: string | null;
  seconds: number | null;
}

/** Those in whose way this backend cannot go on, in words; undefined when there are none. */
export async function whoBlocks(sql: Sql, pid: number): Promise<string | undefined> {
  return inWords(
    await sql<Holder[]>`
      select distinct pid, application_name as application,
        extract(epoch from clock_timestamp() - xact_start)::int as seconds
      from unnest(pg_blocking_pids(${pid}::int)) as blocking (pid) left join pg_stat_activity using (pid)`,
  );
}

/** Those who migrate this database at the moment, or need it to stay as it is. */
export async function whoHoldsSchema(sql: Sql): Promise<string | undefined> {
  return inWords(
    await sql<Holder[]>`
      select distinct pid, application_name as application,
        extract(epoch from clock_timestamp() - xact_start)::int as seconds
      from pg_locks left join pg_stat_activity using (pid)
      where locktype = 'advisory' and granted and classid = 0 and objid = ${migrationLock}::int8::oid and objsubid = 1
        and database = (select oid from pg_database where datname = current_database())`,
  );
}

function inWords(holders: readonly Holder[]): string | undefined {
  if (holders.length === 0) return undefined;
  return holders
    .map(({ pid, application, seconds }) => {
      const details = [application && `application ${application}`, seconds !== null && `for ${seconds} s`];
      const known = details.filter(Boolean).join(", ");
      return `process ${pid} of PostgreSQL${known && ` (${known})`}`;
    })
    .join(" and ");
}
