import type { Pricing } from "@gantry/wire";
import type { Database, Sql } from "../../engines/database/database.ts";
import type { Issue } from "../../kernel/errors.ts";
import type { Micros } from "../../kernel/money.ts";
import type { StoredOutput } from "./prediction.ts";

/** Named as the SQL function reads it. */
export interface Ending {
  id: string;
  claim: number;
  status: number;
  inference_ms: number | undefined;
  /** JSON texts. */
  output: string | undefined;
  error: string | undefined;
  input_tokens: number | undefined;
  output_tokens: number | undefined;
  cached_tokens: number | undefined;
  stream_details: string | undefined;
  price: Micros;
}

export interface Settled {
  /** Places in the list of those that this statement has ended. */
  ended_n: number[];
  grants: GrantedSlot[];
  webhooks: {
    /** Of the ending that counted. */
    n: number;
    id: string;
    user_id: string;
    model_name: string;
    destination: string;
    target: string;
    base_url: string;
  }[];
  /** Whether a queued prediction may go on now. */
  wake: boolean;
  /** Stored inputs that have files, of those that have ended. */
  inputs: { id: string; input: Record<string, unknown> }[];
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

/** Decides and writes a batch of arrivals in one statement; see migrations/0009 and 0019. The decisions come in their order. */
export async function admitArrivals(
  sql: Sql,
  batch: {
    users: string[];
    keys: string[];
    models: string[];
    arrivals: readonly unknown[];
    month: string;
  },
): Promise<Decision[]> {
  // The time is the database's: the minute of a rate limit is one minute for all nodes, whatever their clocks say.
  return sql<Decision[]>`
    select verdict, rate_limit as "rateLimit", rate_remaining as "rateRemaining", rate_reset_ms as "rateResetMs",
      retry_after_ms as "retryAfterMs"
    from admit_and_grant(${batch.users}, ${batch.keys}, ${batch.models}, ${JSON.stringify(batch.arrivals)}::text::json,
      ${batch.month}::date, (extract(epoch from clock_timestamp()) * 1000)::bigint)
    order by n`;
}

/** Ends predictions and hands their slots on, in one statement; see migrations/0009. */
export async function settleEndings(sql: Sql, endings: readonly (Ending & { n: number })[]): Promise<Settled> {
  const [row] = await sql<{ result: Settled }[]>`
    select settle_predictions(${JSON.stringify(endings)}::text::json) as result`;
  if (!row) throw new Error("settling answered nothing");
  return row.result;
}

/**
 * Serves models where somebody with a client waits although there is room: the capacity was raised, or no worker comes
 * for the queued ones before them.
 */
export async function grantFreeSlots(database: Database): Promise<GrantedSlot[]> {
  return database.transaction(async (tx) => {
    const rows = await tx<{ id: string }[]>`
      select s.model_id as id from model_slots s join models m on m.id = s.model_id
      where s.waiting > 0 and s.running < m.capacity
      order by s.model_id for update of s`;
    if (rows.length === 0) return [];
    return tx<GrantedSlot[]>`select id, holder, claim from grant_slots(${rows.map((row) => row.id)}::text[], true)`;
  });
}

/** Moves the heartbeat; answers when, by the clock of the database. */
export async function beat(sql: Sql, nodeId: string): Promise<Date> {
  const [row] = await sql<{ at: Date }[]>`
    insert into nodes (id) values (${nodeId})
    on conflict (id) do update set heartbeat_at = now() returning heartbeat_at as at`;
  return row?.at ?? new Date();
}

export interface AbandonedPrediction {
  id: string;
  claim: number;
  /** Queued ones are run again, the others lost their client with their node. */
  queued: boolean;
  deaths: number;
}

/**
 * Predictions whose node is gone: it is not known, or has not moved its heartbeat for so many seconds, and not since
 * `unheardSince` either (undefined: not yet known, so a node that is known lives).
 */
export async function listAbandoned(
  sql: Sql,
  { deadAfterSeconds, unheardSince }: { deadAfterSeconds: number; unheardSince: Date | undefined },
  limit: number,
): Promise<AbandonedPrediction[]> {
  return sql<AbandonedPrediction[]>`
    select l.id, l.claim, l.route = 'async' as queued, l.deaths from live_predictions l
    where l.holder is not null and not exists (
      select 1 from nodes n where n.id = l.holder and n.heartbeat_at > least(
        now() - make_interval(secs => ${deadAfterSeconds}), ${unheardSince ?? new Date(0)}::timestamptz)
    )
    order by l.id limit ${limit}`;
}

/** Those that have waited as long as they may. */
export async function listOverdue(sql: Sql, limit: number): Promise<{ id: string; claim: number }[]> {
  return sql<{ id: string; claim: number }[]>`
    select id, claim from live_predictions where started_at is null and queue_until > '-infinity' and queue_until < now()
    order by queue_until limit ${limit}`;
}

export async function releasePredictions(
  sql: Sql,
  jobs: readonly { id: string; claim: number }[],
  died: boolean,
): Promise<void> {
  await sql`
    select release_predictions(${jobs.map((job) => job.id)}::text[], ${jobs.map((job) => job.claim)}::int[], ${died})`;
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

/** To be written before it is admitted: it may be claimed in the same moment. */
export async function insertTrace(sql: Sql, id: string, trace: string): Promise<void> {
  await sql`insert into prediction_traces (prediction_id, trace) values (${id}, ${trace}) on conflict do nothing`;
}

export async function isAnyQueued(sql: Sql): Promise<boolean> {
  const rows =
    await sql`select 1 from live_predictions where started_at is null and holder is null and user_id > '' limit 1`;
  return rows.length > 0;
}

/** Those that were not heard of for so many seconds, nor since the moment, if one is given. */
export async function forgetDeadNodes(sql: Sql, seconds: number, unheardSince?: Date): Promise<void> {
  await sql`
    delete from nodes
    where heartbeat_at <= least(now() - make_interval(secs => ${seconds}), ${unheardSince ?? null}::timestamptz)`;
}

export async function forgetNode(sql: Sql, nodeId: string): Promise<void> {
  await sql`delete from nodes where id = ${nodeId}`;
}

/** Starts waiting calls of agents that this node holds; answers which. */
export async function startAgentCalls(sql: Sql, nodeId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from start_agent_calls(${nodeId}) as id`;
  return rows.map((row) => row.id);
}

/** An ended call of an agent, and what was charged for it. */
export interface EndedCall extends EndedPrediction {
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  price: Micros;
}

export async function findEndedCall(sql: Sql, id: string): Promise<EndedCall | undefined> {
  const [row] = await sql<EndedCall[]>`
    select e.id, e.user_id as "userId", e.status, e.inference_ms as "inferenceMs", e.output, e.error,
      e.stream_details as "streamDetails", coalesce(e.input_tokens, 0) as "inputTokens",
      coalesce(e.output_tokens, 0) as "outputTokens", coalesce(e.cached_tokens, 0) as "cachedTokens",
      coalesce(l.amount_micros, 0) as price
    from ended_predictions e left join ledger l on l.kind = 'charge' and l.reference = e.id
    where e.id = ${id} and e.route = 'agent'`;
  return row;
}

export async function findLiveClaim(sql: Sql, id: string): Promise<number | undefined> {
  const [row] = await sql<{ claim: number }[]>`select claim from live_predictions where id = ${id}`;
  return row?.claim;
}

/** Waiting predictions of this node that were granted a slot although no notice arrived. */
export async function listStarted(sql: Sql, ids: readonly string[]): Promise<GrantedSlot[]> {
  return sql<GrantedSlot[]>`
    select id, holder, claim from live_predictions
    where id = any(${ids as string[]}::text[]) and started_at is not null`;
}

/** Which of these claims are no longer this node's: ended, or taken over. */
export async function listLost(
  sql: Sql,
  nodeId: string,
  claims: readonly { id: string; claim: number }[],
): Promise<{ id: string; claim: number }[]> {
  return sql<{ id: string; claim: number }[]>`
    select g.id, g.claim
    from unnest(${claims.map((one) => one.id)}::text[], ${claims.map((one) => one.claim)}::int[]) as g (id, claim)
    where not exists (
      select 1 from live_predictions l where l.id = g.id and l.claim = g.claim and l.holder = ${nodeId}
    )`;
}

/** What the database believes this node to hold, older than a few seconds. */
export async function listHeldBy(
  sql: Sql,
  nodeId: string,
  olderThanSeconds: number,
): Promise<{ id: string; claim: number; queued: boolean }[]> {
  return sql<{ id: string; claim: number; queued: boolean }[]>`
    select id, claim, route = 'async' as queued from live_predictions
    where holder = ${nodeId} and coalesce(started_at, created_at) < now() - make_interval(secs => ${olderThanSeconds})`;
}

export interface PredictionAddress {
  id: string;
  userId: string;
  modelName: string;
}

export interface EndedPrediction {
  id: string;
  userId: string;
  status: number;
  inferenceMs: number | null;
  output: StoredOutput | null;
  error: Issue[] | null;
  streamDetails: Record<string, unknown> | null;
}

/** The caller's own prediction under the model's own path, or nothing: another's looks like one that never was. */
export async function findEnded(
  sql: Sql,
  { id, userId, modelName }: PredictionAddress,
): Promise<EndedPrediction | undefined> {
  const [row] = await sql<EndedPrediction[]>`
    select id, user_id as "userId", status, inference_ms as "inferenceMs", output, error,
      stream_details as "streamDetails"
    from ended_predictions where id = ${id} and user_id = ${userId} and model_name = ${modelName}`;
  return row;
}

/** The same, and whether it is live where it has not ended: in one look, for between two it may end. */
export async function findEnd(
  sql: Sql,
  { id, userId, modelName }: PredictionAddress,
): Promise<EndedPrediction | "live" | undefined> {
  const [row] = await sql<(EndedPrediction & { isEnded: boolean; isLive: boolean })[]>`
    select e.id is not null as "isEnded", e.id, e.user_id as "userId", e.status, e.inference_ms as "inferenceMs",
      e.output, e.error, e.stream_details as "streamDetails", e.id is null and exists (
        select 1 from live_predictions l
        where l.id = ${id} and l.user_id = ${userId} and l.model_name = ${modelName}) as "isLive"
    from (values (1)) one left join ended_predictions e
      on e.id = ${id} and e.user_id = ${userId} and e.model_name = ${modelName}`;
  if (!row?.isEnded) return row?.isLive ? "live" : undefined;
  return row;
}

export async function findLive(
  sql: Sql,
  { id, userId, modelName }: PredictionAddress,
): Promise<{ claim: number; holder: string | null; started: boolean } | undefined> {
  const [row] = await sql<{ claim: number; holder: string | null; started: boolean }[]>`
    select claim, holder, started_at is not null as started from live_predictions
    where id = ${id} and user_id = ${userId} and model_name = ${modelName}`;
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
    from model_flow f where f.model_id = ${modelId} and f.second > extract(epoch from now())::bigint - 60`;
  return row ?? { accepted: 0, ended: 0, running: 0, waiting: 0 };
}

/** Those who wait and are in no line; see migrations/0023. */
export async function mendLines(sql: Sql): Promise<void> {
  await sql`select mend_lines()`;
}

/** What only the last minutes need. */
export async function forgetOldFlow(sql: Sql): Promise<void> {
  await sql`delete from model_flow where second < extract(epoch from now())::bigint - 120`;
  await sql`delete from prediction_traces where created_at < now() - interval '2 days'`;
}

export interface Fragment {
  claim: number;
  seq: number;
  field: string;
  fragment: string;
}

/** The channel on which settlement tells which queued predictions have ended. */
export const endedChannel = "gantry_ended";

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

export async function listFragments(sql: Sql, id: string, after: { claim: number; seq: number }): Promise<Fragment[]> {
  return sql<Fragment[]>`
    select claim, seq, field, fragment from prediction_fragments
    where prediction_id = ${id} and (claim, seq) > (${after.claim}, ${after.seq}) order by claim, seq`;
}

/** Whether it was accepted, whatever became of it. */
export async function isKnown(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`
    select 1 from live_predictions where id = ${id} union all select 1 from ended_predictions where id = ${id}`;
  return rows.length > 0;
}

export async function wasEndedAs(sql: Sql, id: string, status: number): Promise<boolean> {
  const rows = await sql`select 1 from ended_predictions where id = ${id} and status = ${status}`;
  return rows.length > 0;
}

export interface IdempotencyScope {
  userId: string;
  scope: string;
  key: string;
}

export interface IdempotencyRow {
  fingerprint: string;
  predictionId: string;
  /** Its node is gone, or it is older than it takes to be admitted: nobody goes on with it. */
  stale: boolean;
}

/** Takes the key for a new prediction; false when it is taken and not a day old. */
export async function takeIdempotencyKey(
  sql: Sql,
  { userId, scope, key }: IdempotencyScope,
  { fingerprint, predictionId, nodeId }: { fingerprint: string; predictionId: string; nodeId: string },
): Promise<boolean> {
  const rows = await sql`
    insert into idempotency_keys as k (user_id, scope, key, fingerprint, prediction_id, taken_by)
    values (${userId}, ${scope}, ${key}, ${fingerprint}, ${predictionId}, ${nodeId})
    on conflict (user_id, scope, key) do update
      set fingerprint = excluded.fingerprint, prediction_id = excluded.prediction_id, taken_by = excluded.taken_by,
        created_at = now()
      where k.created_at < now() - interval '24 hours'
    returning 1`;
  return rows.length > 0;
}

export async function findIdempotencyKey(
  sql: Sql,
  { userId, scope, key }: IdempotencyScope,
): Promise<IdempotencyRow | undefined> {
  const [row] = await sql<IdempotencyRow[]>`
    select fingerprint, prediction_id as "predictionId", created_at < now() - interval '60 seconds'
        or taken_by is not null and not exists (
          select 1 from nodes n where n.id = taken_by and n.heartbeat_at > now() - interval '10 seconds'
        ) as stale
    from idempotency_keys where user_id = ${userId} and scope = ${scope} and key = ${key}`;
  return row;
}

/** Gives the key free again, if it is still that prediction's. */
export async function dropIdempotencyKey(
  sql: Sql,
  { userId, scope, key }: IdempotencyScope,
  predictionId: string,
): Promise<void> {
  await sql`
    delete from idempotency_keys
    where user_id = ${userId} and scope = ${scope} and key = ${key} and prediction_id = ${predictionId}`;
}
