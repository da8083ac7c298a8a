import type { Pricing } from "@gantry/wire";
import type { Sql } from "../../../engines/database/database.ts";
import type { Bounds } from "../../billing/index.ts";

/** A queued prediction that this node has claimed. */
export interface ClaimedJob {
  id: string;
  claim: number;
  userId: string;
  modelId: string;
  modelName: string;
  input: Record<string, unknown>;
  pricing: Pricing;
  /** Null where a server from before the baseline accepted it. */
  bounds: Bounds | null;
  /** ISO 8601. */
  acceptedAt: string;
  waitedMs: number;
  hasWebhook: boolean;
  trace: string | null;
}

export async function claimJobs(sql: Sql, nodeId: string, hands: number): Promise<ClaimedJob[]> {
  const rows = await sql<{ job: ClaimedJob }[]>`select job from claim_predictions(${nodeId}, ${hands}) as job`;
  return rows.map((row) => row.job);
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
