import type { Sql } from "../../engines/database/database.ts";
import type { BatchStatus, ClaimedBatch, LineError, StopCode } from "./batch.ts";
import { batchColumns } from "./store.ts";

export type Claim = Pick<ClaimedBatch, "id" | "claim">;

/** Every change by a worker. Only the current claim has one. */
const held = (sql: Sql, { id, claim }: Claim) => sql`id = ${id} and claim = ${claim} and ended_at is null`;

/**
 * Claims the next batch: of the user with the fewest claims, then the one that was worked on longest ago. A claim ends with
 * its lease, so the work of a dead node continues elsewhere.
 */
export async function claimBatch(
  sql: Sql,
  { leaseMs, mostOfUser }: { leaseMs: number; mostOfUser: number },
): Promise<ClaimedBatch | undefined> {
  const [row] = await sql<ClaimedBatch[]>`
    with busy as (
      select user_id, count(*) as claims from batches where ended_at is null and leased_until > now() group by user_id
    ), chosen as (
      select o.id from batches o left join busy u on u.user_id = o.user_id
      where o.ended_at is null and (o.leased_until is null or o.leased_until <= now())
        and coalesce(u.claims, 0) < ${mostOfUser}
      order by coalesce(u.claims, 0), o.worked_at nulls first, o.id limit 1
      for update of o skip locked
    )
    update batches b set claim = b.claim + 1, worked_at = clock_timestamp(),
      leased_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    from chosen c where b.id = c.id
    returning ${batchColumns(sql)}, b.claim, b.stop_code as "stopCode", b.next_line as "nextLine",
      b.next_byte as "nextByte"`;
  return row;
}

/** False if the claim was lost. */
export async function renewClaim(sql: Sql, claim: Claim, leaseMs: number): Promise<boolean> {
  const { count } = await sql`
    update batches set leased_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond' where ${held(sql, claim)}`;
  return count > 0;
}

/** Another claim may follow after the time. */
export async function releaseClaim(sql: Sql, claim: Claim, pauseMs: number): Promise<void> {
  await sql`
    update batches set leased_until = clock_timestamp() + ${pauseMs} * interval '1 millisecond', claim = claim + 1
    where ${held(sql, claim)}`;
}

/** False if the batch is being cancelled, or the claim was lost. */
export async function beginLines(sql: Sql, claim: Claim, total: number): Promise<boolean> {
  const { count } = await sql`
    update batches set status = 'in_progress', in_progress_at = clock_timestamp(), total = ${total}
    where ${held(sql, claim)} and status = 'validating'`;
  return count > 0;
}

export async function failBatch(sql: Sql, claim: Claim, errors: readonly LineError[]): Promise<boolean> {
  const { count } = await sql`
    update batches set status = 'failed', errors = ${JSON.stringify(errors)}::text::json, ended_at = clock_timestamp(),
      leased_until = null
    where ${held(sql, claim)} and status = 'validating'`;
  return count > 0;
}

/** No further line begins. The first reason stays. */
export async function stopBatch(sql: Sql, claim: Claim, code: StopCode): Promise<void> {
  await sql`update batches set stop_code = coalesce(stop_code, ${code}) where ${held(sql, claim)}`;
}

export async function beginEnd(sql: Sql, claim: Claim): Promise<void> {
  await sql`
    update batches set status = case when status = 'in_progress' then 'finalizing' else status end,
      finalizing_at = coalesce(finalizing_at, clock_timestamp())
    where ${held(sql, claim)}`;
}

export interface BatchEnd {
  status: Extract<BatchStatus, "completed" | "expired" | "cancelled">;
  outputFileId: string | undefined;
  errorFileId: string | undefined;
  completed: number;
  failed: number;
}

/** False if the claim was lost. */
export async function endBatch(sql: Sql, claim: Claim, end: BatchEnd): Promise<boolean> {
  const { count } = await sql`
    update batches set status = ${end.status}, output_file_id = ${end.outputFileId ?? null},
      error_file_id = ${end.errorFileId ?? null}, completed = ${end.completed}, failed = ${end.failed},
      ended_at = clock_timestamp(), leased_until = null
    where ${held(sql, claim)}`;
  return count > 0;
}
