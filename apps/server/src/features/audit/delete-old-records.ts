import type { Database, Sql } from "../../engines/database/database.ts";

/**
 * Deletes the oldest records and moves the beginning of the chain behind them, in one transaction: the rest stays
 * verifiable. Returns how many were deleted.
 */
export function deleteOldRecords(database: Database, before: Date, limit: number): Promise<number> {
  return database.transaction(async (tx) => {
    // Found before the lock, which would keep others from recording meanwhile.
    const last = await selectLast(tx, before, limit);
    if (last === undefined) return 0;
    await tx`
      update audit_chain set deleted_seq = r.seq, deleted_hash = r.hash
      from audit_records r where r.seq = ${last} and r.seq > audit_chain.deleted_seq`;
    const { count } = await tx`delete from audit_records where seq <= ${last}`;
    return count;
  });
}

async function selectLast(sql: Sql, before: Date, limit: number): Promise<number | undefined> {
  const [row] = await sql<{ seq: number | null }[]>`
    select max(seq) as seq from (
      select seq, at from audit_records where seq > (select deleted_seq from audit_chain) order by seq limit ${limit}
    ) oldest where at < ${before}`;
  return row?.seq ?? undefined;
}
