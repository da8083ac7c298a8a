import type { Sql } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import { andOfKeys, type Scope } from "../accounts/index.ts";
import type { ClaimedJob, StoredIssue, StoredOutput } from "./prediction.ts";

export interface PredictionAddress extends Scope {
  id: string;
  modelName: string;
}

/**
 * The prediction at an address, as a condition on `live_predictions` or `ended_predictions`. Predictions of other users do
 * not match. Model calls of runs never match: they contain values that the run's events hide.
 */
export const at = (sql: Sql, { id, userId, onlyKeyIds, modelName }: PredictionAddress) => sql`
  id = ${id} and user_id = ${userId} and model_name = ${modelName} and route <> 'agent'
  ${andOfKeys(sql, { onlyKeyIds }, sql`key_id`)}`;

export interface EndedPrediction {
  id: string;
  userId: string;
  status: number;
  endedAt: Date;
  inferenceMs: number | null;
  output: StoredOutput | null;
  error: StoredIssue[] | null;
  streamDetails: Record<string, unknown> | null;
}

export async function findEnded(sql: Sql, address: PredictionAddress): Promise<EndedPrediction | undefined> {
  const [row] = await sql<EndedPrediction[]>`
    select id, user_id as "userId", status, ended_at as "endedAt", inference_ms as "inferenceMs", output, error,
      stream_details as "streamDetails"
    from ended_predictions where ${at(sql, address)}`;
  return row;
}

/** The ended prediction, or whether it is live. One statement, because it may end between two. */
export async function findEnd(sql: Sql, address: PredictionAddress): Promise<EndedPrediction | "live" | undefined> {
  const [row] = await sql<(EndedPrediction & { isEnded: boolean; isLive: boolean })[]>`
    select e.id is not null as "isEnded", e.id, e.user_id as "userId", e.status, e.ended_at as "endedAt",
      e.inference_ms as "inferenceMs", e.output, e.error, e.stream_details as "streamDetails", e.id is null and exists (
        select 1 from live_predictions where ${at(sql, address)}) as "isLive"
    from (values (1)) one left join (select * from ended_predictions where ${at(sql, address)}) e on true`;
  if (!row?.isEnded) return row?.isLive ? "live" : undefined;
  return row;
}

export type PredictionState = EndedPrediction | "waiting" | "running";

/** Undefined if it was never accepted, or its result was deleted. */
export async function findState(sql: Sql, address: PredictionAddress): Promise<PredictionState | undefined> {
  const found = await findEnd(sql, address);
  if (found !== "live") return found;
  const [row] = await sql<{ isRunning: boolean }[]>`
    select started_at is not null as "isRunning" from live_predictions where ${at(sql, address)}`;
  // It has ended in between.
  if (!row) return findEnded(sql, address);
  return row.isRunning ? "running" : "waiting";
}

const erased = (sql: Sql) => sql`
  output = case when output is not null then '{}'::json end, said = null, input = null,
  request = json_build_object('id', request ->> 'id', 'deleted', true)`;

/** Deletes what an ended prediction said. Its figures stay until results expire. */
export async function eraseResult(
  sql: Sql,
  { id, userId, onlyKeyIds }: Omit<PredictionAddress, "modelName">,
): Promise<void> {
  await sql`
    update ended_predictions set ${erased(sql)}
    where id = ${id} and user_id = ${userId} and route <> 'agent'
      ${andOfKeys(sql, { onlyKeyIds }, sql`key_id`)}`;
}

/** Deletes what the model calls of deleted runs said, for all users who paid for them. `ofTools`: calls without a run. */
export async function eraseResultsOfRuns(
  sql: Sql,
  runIds: readonly string[],
  ofTools: readonly string[],
): Promise<void> {
  await sql`
    update ended_predictions set ${erased(sql)}
    where run_id = any(${[...runIds]}::text[]) or id = any(${[...ofTools]}::text[])`;
}

export async function findLive(
  sql: Sql,
  address: PredictionAddress,
): Promise<{ claim: number; holder: string | null } | undefined> {
  const [row] = await sql<{ claim: number; holder: string | null }[]>`
    select claim, holder from live_predictions where ${at(sql, address)}`;
  return row;
}

/** Whether a prediction was accepted: it is live, has ended, or its content was deleted. */
export async function isKnown(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`
    select 1 from live_predictions where id = ${id} union all select 1 from ended_predictions where id = ${id}
    union all select 1 from deleted_predictions where id = ${id}`;
  return rows.length > 0;
}

export async function isOwn(sql: Sql, address: PredictionAddress): Promise<boolean> {
  const rows = await sql`
    select 1 from live_predictions where ${at(sql, address)}
    union all select 1 from ended_predictions where ${at(sql, address)}`;
  return rows.length > 0;
}

export async function wasEndedAs(sql: Sql, id: string, status: number): Promise<boolean> {
  const rows = await sql`select 1 from ended_predictions where id = ${id} and status = ${status}`;
  return rows.length > 0;
}

/** An ended model call of a run. The price is the run's: 0 if a sponsor paid. */
export interface EndedCall extends EndedPrediction {
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  price: Micros;
}

export async function findEndedCall(sql: Sql, id: string): Promise<EndedCall | undefined> {
  const [row] = await sql<EndedCall[]>`
    select e.id, e.user_id as "userId", e.status, e.ended_at as "endedAt", e.inference_ms as "inferenceMs", e.output,
      e.error, e.stream_details as "streamDetails", coalesce(e.input_tokens, 0) as "inputTokens",
      coalesce(e.output_tokens, 0) as "outputTokens", coalesce(e.cached_tokens, 0) as "cachedTokens",
      e.cache_write_tokens as "cacheWriteTokens",
      case when e.key_id is null then 0 else e.price_micros end as price
    from ended_predictions e
    where e.id = ${id} and e.route = 'agent'`;
  return row;
}

export async function findLiveClaim(sql: Sql, id: string): Promise<number | undefined> {
  const [row] = await sql<{ claim: number }[]>`select claim from live_predictions where id = ${id}`;
  return row?.claim;
}

export interface FlowFigures {
  accepted: number;
  ended: number;
  running: number;
  waiting: number;
}

/** Predictions of a model that arrived and ended in the last minute, and those that run and wait now. */
export async function selectFlow(sql: Sql, modelId: string): Promise<FlowFigures> {
  const [row] = await sql<FlowFigures[]>`
    select coalesce(sum(f.accepted), 0)::int as accepted, coalesce(sum(f.ended), 0)::int as ended,
      coalesce((select running from model_slots where model_id = ${modelId}), 0) as running,
      coalesce((select waiting from model_slots where model_id = ${modelId}), 0) as waiting
    from model_flow f where f.model_id = ${modelId} and f.second > extract(epoch from now())::bigint - 60`;
  return row ?? { accepted: 0, ended: 0, running: 0, waiting: 0 };
}

/** Settlement notifies here which queued or followed predictions have ended. */
export const endedChannel = "gantry_ended";

export async function claimJobs(sql: Sql, nodeId: string, slots: number): Promise<ClaimedJob[]> {
  const rows = await sql<{ job: ClaimedJob }[]>`select job from claim_predictions(${nodeId}, ${slots}) as job`;
  return rows.map((row) => row.job);
}

/** Returns claimed jobs to the queue. */
export async function releaseJobs(
  sql: Sql,
  jobs: readonly { id: string; claim: number }[],
  died: boolean,
): Promise<void> {
  await sql`
    select release_predictions(${jobs.map((job) => job.id)}::text[], ${jobs.map((job) => job.claim)}::int[], ${died})`;
}

/** Must be written before admission: a worker may claim the prediction at the same moment. */
export async function insertTrace(sql: Sql, id: string, trace: string): Promise<void> {
  await sql`insert into prediction_traces (prediction_id, trace) values (${id}, ${trace}) on conflict do nothing`;
}
