import type { Sql } from "../../engines/database/database.ts";

const limit = 50;

/** Runs that did not end, by the indexes that workers use. */
const liveRuns = (sql: Sql, whose: ReturnType<Sql>) => sql`
  exists (select from runs where holder is not null and ${whose})
  or exists (select from runs where parked and ${whose})
  or exists (
    select from runs where holder is null and not parked and status in ('pending', 'running') and ${whose})`;

/** Work of the account, and work of others that its agents and models were asked to do. */
export async function isBusy(sql: Sql, userId: string): Promise<boolean> {
  const [row] = await sql<[{ isBusy: boolean }]>`
    select exists (
        select from live_predictions
        where user_id = ${userId} or model_id in (select id from models where owner_id = ${userId}))
      or exists (select from batches where user_id = ${userId} and ended_at is null)
      or ${liveRuns(sql, sql`(user_id = ${userId} or owner_id = ${userId})`)}
      or exists (select from wallets where user_id = ${userId} and reserved_micros <> 0) as "isBusy"`;
  return row.isBusy;
}

export async function selectOpenBatches(sql: Sql, userId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from batches where user_id = ${userId} and ended_at is null and status in ('validating', 'in_progress')
    limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Without calls of runs, which end with their runs: the account may pay for runs of others. */
export async function selectLivePredictions(sql: Sql, userId: string): Promise<{ id: string; modelName: string }[]> {
  return sql<{ id: string; modelName: string }[]>`
    select id, model_name as "modelName" from live_predictions where user_id = ${userId} and route <> 'agent'
    limit ${limit}`;
}
