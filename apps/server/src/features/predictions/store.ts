import type { Database, Sql } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import type { Verdict } from "./admit-predictions.ts";

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
  price: Micros;
}

export interface GrantedSlot {
  id: string;
  holder: string;
  claim: number;
}

export interface Decision {
  n: number;
  verdict: Verdict;
  rateLimit: number | null;
  rateRemaining: number | null;
  rateResetMs: number | null;
  retryAfterMs: number | null;
}

/** Decides and writes a batch of arrivals in one statement; see migrations/0009. The decisions come in their order. */
export async function admitArrivals(
  sql: Sql,
  batch: {
    users: string[];
    keys: string[];
    models: string[];
    arrivals: readonly unknown[];
    month: string;
    nowMs: number;
  },
): Promise<Decision[]> {
  return sql<Decision[]>`
    select n, verdict, rate_limit as "rateLimit", rate_remaining as "rateRemaining", rate_reset_ms as "rateResetMs",
      retry_after_ms as "retryAfterMs"
    from admit_predictions(${batch.users}, ${batch.keys}, ${batch.models}, ${JSON.stringify(batch.arrivals)}::text::json,
      ${batch.month}::date, ${batch.nowMs})
    order by n`;
}

/** Ends predictions and hands their slots on, in one statement; see migrations/0009. */
export async function settleEndings(
  sql: Sql,
  endings: readonly Ending[],
): Promise<{ ended: string[]; grants: GrantedSlot[] }> {
  const [row] = await sql<{ result: { ended: string[]; grants: GrantedSlot[] } }[]>`
    select settle_predictions(${JSON.stringify(endings)}::text::json) as result`;
  if (!row) throw new Error("settling answered nothing");
  return row.result;
}

/** Serves models where somebody waits although there is room, e.g. because the capacity was raised. */
export async function grantFreeSlots(database: Database): Promise<GrantedSlot[]> {
  return database.transaction(async (tx) => {
    const rows = await tx<{ id: string }[]>`
      select s.model_id as id from model_slots s join models m on m.id = s.model_id
      where s.waiting > 0 and s.running < m.capacity
      order by s.model_id for update of s`;
    if (rows.length === 0) return [];
    return tx<GrantedSlot[]>`select id, holder, claim from grant_slots(${rows.map((row) => row.id)}::text[])`;
  });
}

export async function beat(sql: Sql, nodeId: string): Promise<void> {
  await sql`
    insert into nodes (id) values (${nodeId})
    on conflict (id) do update set heartbeat_at = now()`;
}

/** Predictions whose node is gone: it never was, or has not moved its heartbeat for `seconds`. */
export async function listAbandoned(
  sql: Sql,
  seconds: number,
  limit: number,
): Promise<{ id: string; claim: number }[]> {
  return sql<{ id: string; claim: number }[]>`
    select l.id, l.claim from live_predictions l
    where not exists (
      select 1 from nodes n where n.id = l.holder and n.heartbeat_at > now() - make_interval(secs => ${seconds})
    )
    order by l.id limit ${limit}`;
}

export async function forgetDeadNodes(sql: Sql, seconds: number): Promise<void> {
  await sql`delete from nodes where heartbeat_at < now() - make_interval(secs => ${seconds})`;
}

export async function forgetNode(sql: Sql, nodeId: string): Promise<void> {
  await sql`delete from nodes where id = ${nodeId}`;
}

/** Waiting predictions of this node that were granted a slot although no notice arrived. */
export async function listStarted(sql: Sql, ids: readonly string[]): Promise<GrantedSlot[]> {
  return sql<GrantedSlot[]>`
    select id, holder, claim from live_predictions
    where id = any(${ids as string[]}::text[]) and started_at is not null`;
}

/** What the database believes this node to hold, older than a few seconds. */
export async function listHeldBy(
  sql: Sql,
  nodeId: string,
  olderThanSeconds: number,
): Promise<{ id: string; claim: number }[]> {
  return sql<{ id: string; claim: number }[]>`
    select id, claim from live_predictions
    where holder = ${nodeId} and created_at < now() - make_interval(secs => ${olderThanSeconds})`;
}

export interface PredictionAddress {
  id: string;
  userId: string;
  modelName: string;
}

/** The caller's own prediction under the model's own path, or nothing: another's looks like one that never was. */
export async function findEnded(
  sql: Sql,
  { id, userId, modelName }: PredictionAddress,
): Promise<{ status: number } | undefined> {
  const [row] = await sql<{ status: number }[]>`
    select status from ended_predictions where id = ${id} and user_id = ${userId} and model_name = ${modelName}`;
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

export async function wasEndedAs(sql: Sql, id: string, status: number): Promise<boolean> {
  const rows = await sql`select 1 from ended_predictions where id = ${id} and status = ${status}`;
  return rows.length > 0;
}
