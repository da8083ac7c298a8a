import type { Database } from "../../engines/database/database.ts";
import { firstIdAt } from "../../kernel/first-id-at.ts";

/** Few, because each may have thousands of events. */
const batch = 50;

/**
 * Deletes some runs that ended before a moment, with their descendants, steps, events, confirmations and secrets.
 * Charges stay in the ledger. A run with an active descendant is skipped.
 */
export async function deleteOldRuns(
  database: Database,
  endedBefore: Date,
): Promise<{ dropped: number; more: boolean }> {
  return database.transaction(async (tx) => {
    const roots = await tx<{ id: string }[]>`
      select r.id from runs r
      where r.id < ${firstIdAt("run", endedBefore)} and r.completed_at < ${endedBefore} and cardinality(r.ancestors) = 0
        and not exists (
          select 1 from runs b
          where b.ancestors[1] = r.id and cardinality(b.ancestors) > 0 and b.status in ('pending', 'running'))
      order by r.id limit ${batch} for update skip locked`;
    const rootIds = roots.map((row) => row.id);
    const rows = await tx<{ id: string }[]>`
      delete from runs where id = any(${rootIds}::text[])
        or (ancestors[1] = any(${rootIds}::text[]) and cardinality(ancestors) > 0)
      returning id`;
    const ids = rows.map((row) => row.id);
    for (const table of ["run_steps", "run_calls", "run_events", "run_confirmations", "run_secrets"]) {
      await tx`delete from ${tx(table)} where run_id = any(${ids}::text[])`;
    }
    return { dropped: roots.length, more: roots.length === batch };
  });
}
