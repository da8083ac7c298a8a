import { mostSummaryCharacters, mostTraceSteps } from "@gantry/wire";
import type { Sql } from "../../../engines/database/database.ts";
import type { Run, StepKind, StoredCall } from "../run.ts";

// Each query is for all runs of a trace, so their number does not depend on its length.

/** A run of the trace: the run itself or a descendant. */
export type TracedRun = Pick<
  Run,
  | "id"
  | "agentId"
  | "ownerId"
  | "userId"
  | "ancestors"
  | "status"
  | "phase"
  | "callId"
  | "summingUp"
  | "inputTokens"
  | "outputTokens"
  | "cachedTokens"
  | "cacheWriteTokens"
  | "cost"
  | "createdAt"
  | "startedAt"
  | "completedAt"
> & {
  parentStep: number | null;
  parentPosition: number | null;
  errorType: string | null;
};

const runLimit = mostTraceSteps + 1;

export async function listTracedRuns(sql: Sql, { id, ancestors }: Pick<Run, "id" | "ancestors">): Promise<TracedRun[]> {
  return sql<TracedRun[]>`
    select r.id, r.agent_id as "agentId", r.owner_id as "ownerId", r.user_id as "userId", r.ancestors, r.status, r.phase,
      r.call_id as "callId", r.summing_up as "summingUp", r.input_tokens as "inputTokens",
      r.output_tokens as "outputTokens", r.cached_tokens as "cachedTokens", r.cache_write_tokens as "cacheWriteTokens",
      r.cost_micros as cost, r.created_at as "createdAt", r.started_at as "startedAt", r.completed_at as "completedAt",
      r.parent_step as "parentStep", r.parent_position as "parentPosition", r.error ->> 'type' as "errorType"
    from runs r where r.id in (
      select ${id} union all
      select b.id from runs b
      where cardinality(b.ancestors) > 0 and b.ancestors[1] = ${ancestors[0] ?? id} and ${id} = any (b.ancestors))
    order by r.created_at, r.id limit ${runLimit}`;
}

export interface TracedStep {
  runId: string;
  n: number;
  kind: StepKind;
  /** The beginning of its text. */
  text: string;
  hasCalls: boolean;
  predictionId: string;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  cost: number;
  createdAt: Date;
  firstTokenMs: number | null;
}

export async function listTracedSteps(sql: Sql, runIds: readonly string[]): Promise<TracedStep[]> {
  return sql<TracedStep[]>`
    select s.run_id as "runId", s.n, s.kind, left(coalesce(s.message ->> 'text', ''), ${mostSummaryCharacters}) as text,
      coalesce(json_array_length(s.message -> 'toolCalls'), 0) > 0 as "hasCalls", s.prediction_id as "predictionId",
      s.input_tokens as "inputTokens", s.output_tokens as "outputTokens", s.cached_tokens as "cachedTokens",
      s.cache_write_tokens as "cacheWriteTokens", s.cost_micros as cost, s.created_at as "createdAt",
      s.first_token_ms as "firstTokenMs"
    from run_steps s where s.run_id = any(${[...runIds]}::text[]) order by s.created_at, s.run_id, s.n limit ${runLimit}`;
}

export interface TracedCall
  extends Pick<StoredCall, "step" | "position" | "tool" | "kind" | "status" | "childId" | "isError" | "answer"> {
  runId: string;
  /** The beginning of its result. */
  result: string | null;
  /** When the model asked for it. */
  wantedAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
  confirmationId: string | null;
  askedAt: Date | null;
  resolvedAt: Date | null;
  answerReason: string | null;
}

export async function listTracedCalls(sql: Sql, runIds: readonly string[]): Promise<TracedCall[]> {
  return sql<TracedCall[]>`
    select k.run_id as "runId", k.step, k.position, k.tool, k.kind, k.status, k.child_id as "childId",
      left(k.result, ${mostSummaryCharacters}) as result, k.is_error as "isError", s.created_at as "wantedAt",
      k.started_at as "startedAt", k.ended_at as "endedAt", q.id as "confirmationId", q.status as answer,
      q.created_at as "askedAt", q.resolved_at as "resolvedAt", left(q.reason, ${mostSummaryCharacters}) as "answerReason"
    from run_calls k join run_steps s on s.run_id = k.run_id and s.n = k.step
    left join run_confirmations q on q.run_id = k.run_id and q.step = k.step and q.position = k.position
    where k.run_id = any(${[...runIds]}::text[])
    order by s.created_at, k.run_id, k.step, k.position limit ${runLimit}`;
}

/** A prediction of the trace: a call of an agent's model, or of `run_model`. */
export interface TracedPrediction {
  id: string;
  /** Null for calls of `run_model`. */
  runId: string | null;
  userId: string;
  modelName: string;
  /** Null while it is live. */
  status: number | null;
  error: string | null;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
  inputTokens: number | null;
  outputTokens: number | null;
  cachedTokens: number | null;
  cacheWriteTokens: number;
  price: number;
}

/** Predictions of the runs and of `run_model`, and those under way. */
export async function listTracedPredictions(
  sql: Sql,
  runIds: readonly string[],
  { ofTools, underWay }: Readonly<Record<"ofTools" | "underWay", readonly string[]>>,
): Promise<TracedPrediction[]> {
  const columns = sql`
    p.id, p.run_id as "runId", p.user_id as "userId", p.model_name as "modelName", p.status,
    left(p.error -> 0 ->> 'msg', ${mostSummaryCharacters}) as error, p.created_at as "createdAt",
    p.started_at as "startedAt", p.ended_at as "endedAt", p.input_tokens as "inputTokens",
    p.output_tokens as "outputTokens", p.cached_tokens as "cachedTokens", p.cache_write_tokens as "cacheWriteTokens",
    p.price_micros as price`;
  return sql<TracedPrediction[]>`
    (select ${columns} from ended_predictions p where p.run_id = any(${[...runIds]}::text[])
      order by p.created_at, p.id limit ${2 * runLimit})
    union all
    select ${columns} from ended_predictions p where p.run_id is null and p.id = any(${[...ofTools]}::text[])
    union all
    select l.id, l.run_id, l.user_id, l.model_name, null, null, l.created_at, l.started_at, null, null, null, null, 0, 0
    from live_predictions l where l.id = any(${[...underWay, ...ofTools]}::text[])`;
}
