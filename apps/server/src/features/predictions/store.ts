import type { Pricing } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import type { Scope } from "../accounts/index.ts";
import type { Bounds } from "../billing/index.ts";
import type { Fragment } from "./execution/fragments.rules.ts";
import type { Route, StoredOutput } from "./prediction.ts";
import type { StoredIssue } from "./result/result-item.ts";

export interface ArrivingPrediction {
  id: string;
  userId: string;
  keyId: string;
  modelId: string;
  modelName: string;
  route: Route;
  highPriority: boolean;
  /** The run whose next model call it is. */
  runId?: string | undefined;
  reservation: Micros;
  /** Its payer has not seen it coming: it does not go below zero by its reservation, nor beyond the key's month. */
  mustBeCovered?: boolean;
  /** Its user is not the owner of its key, and pays for what that key's run calls. */
  sponsored?: boolean;
  queueSeconds: number;
  queued?: QueuedInput | undefined;
  /** Of a queued one: this node has a hand free for it, and runs it if it starts. */
  handFree?: boolean;
  /** To run, or only to know whether it would be refused (counted as a request or not). */
  purpose: "run" | "look" | "look_and_count";
  /**
   * Its client waits for it here and no repeat asks for it: if the database's machine dies before it is on the disk, it
   * has never been. Its end is not written then, and its client is told so.
   */
  mayBeLost?: boolean;
}

/** What a worker needs to run a queued one later; the first three are JSON texts. */
export interface QueuedInput {
  input: string;
  pricing: string;
  bounds: string;
  baseUrl: string;
  webhookDestination?: string;
  /** Sealed, as base64. */
  webhookTarget?: string;
}

export interface Ending {
  id: string;
  claim: number;
  status: number;
  inferenceMs: number | undefined;
  /** JSON texts. */
  output: string | undefined;
  error: string | undefined;
  inputTokens: number | undefined;
  outputTokens: number | undefined;
  cachedTokens: number | undefined;
  cacheWriteTokens: number | undefined;
  streamDetails: string | undefined;
  price: Micros;
}

export interface GrantedSlot {
  id: string;
  holder: string;
  claim: number;
}

export type Refusal =
  | "key_gone"
  | "model_retired"
  | "model_inactive"
  | "no_funds"
  | "rate_limit"
  | "too_many_parallel"
  | "run_lost";

export interface Decision {
  verdict: "run" | "wait" | Refusal;
  rateLimit: number | null;
  rateRemaining: number | null;
  rateResetMs: number | null;
  retryAfterMs: number | null;
}

/** What the failed ones of these said last stays with their ends. */
export async function keepLastWords(
  sql: Sql,
  ids: readonly string[],
  words: readonly { id: string; said: readonly Fragment[] }[],
): Promise<void> {
  await sql`select keep_last_words(${ids as string[]}::text[], ${JSON.stringify(words)}::text::json)`;
}

export interface PredictionAddress extends Scope {
  id: string;
  modelName: string;
}

/** The prediction at an address, of the rows of `live_predictions` or `ended_predictions`. Calls of an agent's run have none. */
export const at = (sql: Sql, { id, userId, onlyKeyId, modelName }: PredictionAddress) => sql`
  id = ${id} and user_id = ${userId} and model_name = ${modelName} and route <> 'agent'
  ${onlyKeyId === null ? sql`` : sql`and key_id = ${onlyKeyId}`}`;

export interface EndedPrediction {
  id: string;
  userId: string;
  status: number;
  inferenceMs: number | null;
  output: StoredOutput | null;
  error: StoredIssue[] | null;
  streamDetails: Record<string, unknown> | null;
}

/**
 * The caller's own prediction under the model's own path, or nothing: predictions of others look like unknown ones, and so
 * do the calls of an agent's run, which hold values that the run's events hide.
 */
export async function findEnded(sql: Sql, address: PredictionAddress): Promise<EndedPrediction | undefined> {
  const [row] = await sql<EndedPrediction[]>`
    select id, user_id as "userId", status, inference_ms as "inferenceMs", output, error,
      stream_details as "streamDetails"
    from ended_predictions where ${at(sql, address)}`;
  return row;
}

/** The same, and whether it is live where it has not ended: in one look, for between two it may end. */
export async function findEnd(sql: Sql, address: PredictionAddress): Promise<EndedPrediction | "live" | undefined> {
  const [row] = await sql<(EndedPrediction & { isEnded: boolean; isLive: boolean })[]>`
    select e.id is not null as "isEnded", e.id, e.user_id as "userId", e.status, e.inference_ms as "inferenceMs",
      e.output, e.error, e.stream_details as "streamDetails", e.id is null and exists (
        select 1 from live_predictions where ${at(sql, address)}) as "isLive"
    from (values (1)) one left join (select * from ended_predictions where ${at(sql, address)}) e on true`;
  if (!row?.isEnded) return row?.isLive ? "live" : undefined;
  return row;
}

export async function findLive(
  sql: Sql,
  address: PredictionAddress,
): Promise<{ claim: number; holder: string | null; started: boolean } | undefined> {
  const [row] = await sql<{ claim: number; holder: string | null; started: boolean }[]>`
    select claim, holder, started_at is not null as started from live_predictions where ${at(sql, address)}`;
  return row;
}

export interface FlowFigures {
  accepted: number;
  ended: number;
  running: number;
  waiting: number;
}

/** What came in and went out in the last minute, and what is under way now. */
export async function selectFlow(sql: Sql, modelId: string): Promise<FlowFigures> {
  const [row] = await sql<FlowFigures[]>`
    select coalesce(sum(f.accepted), 0)::int as accepted, coalesce(sum(f.ended), 0)::int as ended,
      coalesce((select running from model_slots where model_id = ${modelId}), 0) as running,
      coalesce((select waiting from model_slots where model_id = ${modelId}), 0) as waiting
    from model_flow f where f.model_id = ${modelId} and f.second > extract(epoch from now())::bigint - 60
      and f.second <= extract(epoch from now())::bigint`;
  return row ?? { accepted: 0, ended: 0, running: 0, waiting: 0 };
}

/** The channel on which settlement tells which predictions have ended: queued ones, and those that somebody follows. */
export const endedChannel = "gantry_ended";

/** Whether it was accepted, whatever became of it. */
export async function isKnown(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`
    select 1 from live_predictions where id = ${id} union all select 1 from ended_predictions where id = ${id}`;
  return rows.length > 0;
}

/** Whether the user has a prediction of this id and model, live or ended, that is no call of an agent's run. */
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

/** A worker has as many hands as it runs queued predictions at once. This one waits for a prediction that is being accepted. */
export interface SlotReservation {
  begin(job: ClaimedJob): void;
  /** Must be called where nothing begins. */
  giveBack(): void;
}

/** Hands that become free with what a statement ends, for what it claims. */
export interface FreedSlots {
  hands: number;
  /** Must be called, with what was claimed or with nothing. */
  use(jobs: readonly ClaimedJob[]): void;
}

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
