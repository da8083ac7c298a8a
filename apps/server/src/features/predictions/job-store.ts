import type { Pricing } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import type { PredictionAddress } from "./store.ts";

/** A queued prediction that this node has claimed. */
export interface ClaimedJob {
  id: string;
  claim: number;
  userId: string;
  modelId: string;
  modelName: string;
  input: Record<string, unknown>;
  pricing: Pricing;
  acceptedAt: Date;
  waitedMs: number;
  hasWebhook: boolean;
  trace: string | null;
}

export async function claimJobs(sql: Sql, nodeId: string, hands: number): Promise<ClaimedJob[]> {
  return sql<ClaimedJob[]>`
    select id, claim, user_id as "userId", model_id as "modelId", model_name as "modelName", input, pricing,
      created_at as "acceptedAt", extract(epoch from started_at - created_at)::float8 * 1000 as "waitedMs",
      webhook_target is not null as "hasWebhook",
      (select t.trace from prediction_traces t where t.prediction_id = claimed.id) as trace
    from claim_predictions(${nodeId}, ${hands}) claimed`;
}

export async function releasePredictions(
  sql: Sql,
  jobs: readonly { id: string; claim: number }[],
  died: boolean,
): Promise<void> {
  await sql`
    select release_predictions(${jobs.map((job) => job.id)}::text[], ${jobs.map((job) => job.claim)}::int[], ${died})`;
}

/** To be written before it is admitted: it may be claimed in the same moment. */
export async function insertTrace(sql: Sql, id: string, trace: string): Promise<void> {
  await sql`insert into prediction_traces (prediction_id, trace) values (${id}, ${trace}) on conflict do nothing`;
}

export interface Fragment {
  claim: number;
  seq: number;
  field: string;
  fragment: string;
}

/** The channel on which a node says that a queued run has said more. */
export const fragmentsChannel = "gantry_fragments";

export async function insertFragment(sql: Sql, id: string, { claim, seq, field, fragment }: Fragment): Promise<void> {
  // A worker that was taken for dead must leave nothing behind: settlement waits for this lock, or this finds nothing.
  await sql`
    with present as (
      select 1 from live_predictions where id = ${id} and claim = ${claim} for key share
    ), added as (
      insert into prediction_fragments (prediction_id, claim, seq, field, fragment)
      select ${id}, ${claim}, ${seq}, ${field}, ${fragment} from present on conflict do nothing returning 1
    )
    select pg_notify(${fragmentsChannel}, ${id}) from added`;
}

/** What a run had said that ended as failed or cancelled; see migrations/0029. */
export async function findLastWords(sql: Sql, { id, userId, modelName }: PredictionAddress): Promise<Fragment[]> {
  const [row] = await sql<{ said: Fragment[] | null }[]>`
    select said from ended_predictions where id = ${id} and user_id = ${userId} and model_name = ${modelName}`;
  return row?.said ?? [];
}

export async function listFragments(sql: Sql, id: string, after: { claim: number; seq: number }): Promise<Fragment[]> {
  return sql<Fragment[]>`
    select claim, seq, field, fragment from prediction_fragments
    where prediction_id = ${id} and (claim, seq) > (${after.claim}, ${after.seq}) order by claim, seq`;
}
