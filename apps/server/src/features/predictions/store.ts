import type { Sql, Transaction } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import type { LockedModel } from "./admit.rules.ts";
import type { Route } from "./prediction.ts";

export interface NewPrediction {
  id: string;
  userId: string;
  keyId: string;
  modelId: string;
  modelName: string;
  route: Route;
  highPriority: boolean;
  holder: string;
  /** Whether a slot was granted at once. */
  starts: boolean;
  reservation: Micros;
  countsParallel: boolean;
  /** The month in which a limited key counts it. */
  keyMonth: string | null;
}

export interface Ending {
  id: string;
  claim: number;
  status: number;
  inferenceMs: number | null;
  /** JSON texts. */
  output: string | null;
  error: string | null;
  inputTokens: number | null;
  outputTokens: number | null;
  cachedTokens: number | null;
  price: Micros;
}

/** The live row as it was when it ended. */
export interface EndedRow {
  id: string;
  userId: string;
  keyId: string;
  keyMonth: string | null;
  modelName: string;
  route: Route;
  reserved: Micros;
  countsParallel: boolean;
}

export interface GrantedSlot {
  id: string;
  holder: string;
  claim: number;
}

/** Locks the models' counters, always in the order of their ids, and reads what admission decides on. */
export async function lockModels(tx: Transaction, modelIds: readonly string[]): Promise<Map<string, LockedModel>> {
  const models = await tx<({ id: string } & LockedModel)[]>`
    select m.id, m.capacity, m.retired_at is not null as retired, s.running, s.waiting
    from model_slots s join models m on m.id = s.model_id
    where s.model_id = any(${modelIds as string[]}::text[])
    order by s.model_id for update of s`;
  return new Map(models.map(({ id, ...model }) => [id, model]));
}

/** The keys among these that still work: another node may have heard later that one was revoked. */
export async function selectValidKeys(tx: Transaction, keyIds: readonly string[]): Promise<Set<string>> {
  const keys = await tx<{ id: string }[]>`
    select k.id from api_keys k join users u on u.id = k.user_id
    where k.id = any(${keyIds as string[]}::text[]) and k.revoked_at is null and u.disabled_at is null
      and (k.expires_at is null or k.expires_at > now())`;
  return new Set(keys.map((key) => key.id));
}

/** A model that was never called has no counters yet. */
export async function ensureSlots(sql: Sql, modelIds: readonly string[]): Promise<void> {
  await sql`
    insert into model_slots (model_id)
    select id from models where id = any(${modelIds as string[]}::text[])
    on conflict do nothing`;
}

// The driver takes a list of booleans for one boolean, so they travel as numbers.
export async function insertAdmitted(tx: Transaction, rows: readonly NewPrediction[]): Promise<void> {
  await tx`
    with admitted as (
      insert into live_predictions
        (id, user_id, key_id, model_id, model_name, route, high_priority, holder, reserved_micros, counts_parallel,
         key_month, started_at)
      select id, user_id, key_id, model_id, model_name, route, high_priority = 1, holder, reserved, counts_parallel = 1,
        key_month, case when starts = 1 then clock_timestamp() end
      from unnest(
        ${rows.map((row) => row.id)}::text[], ${rows.map((row) => row.userId)}::text[],
        ${rows.map((row) => row.keyId)}::text[], ${rows.map((row) => row.modelId)}::text[],
        ${rows.map((row) => row.modelName)}::text[], ${rows.map((row) => row.route)}::text[],
        ${rows.map((row) => Number(row.highPriority))}::int[], ${rows.map((row) => row.holder)}::text[],
        ${rows.map((row) => row.reservation)}::bigint[], ${rows.map((row) => Number(row.countsParallel))}::int[],
        ${rows.map((row) => row.keyMonth)}::date[], ${rows.map((row) => Number(row.starts))}::int[]
      ) as given (id, user_id, key_id, model_id, model_name, route, high_priority, holder, reserved, counts_parallel,
        key_month, starts)
      returning model_id, started_at
    )
    update model_slots s set running = s.running + d.running, waiting = s.waiting + d.waiting
    from (
      select model_id, count(started_at)::int as running, (count(*) - count(started_at))::int as waiting
      from admitted group by model_id
    ) d
    where s.model_id = d.model_id`;
}

/** Locks the counters that the given predictions hold, in the order of the models' ids. */
export async function lockSlotsOf(tx: Transaction, predictionIds: readonly string[]): Promise<void> {
  await tx`
    select 1 from model_slots
    where model_id in (select model_id from live_predictions where id = any(${predictionIds as string[]}::text[]))
    order by model_id for update`;
}

/**
 * Ends predictions: the live row goes, the ended row comes, the slot is free, in one statement. Answers the ids that
 * it really ended; what another claim holds or has ended is left alone. `waitingModels` are those with somebody to
 * grant a slot to.
 */
export async function endPredictions(
  tx: Transaction,
  endings: readonly Ending[],
): Promise<{ ended: EndedRow[]; waitingModels: string[] }> {
  const rows = await tx<(EndedRow & { modelId: string; waiting: number })[]>`
    with given as (
      select * from unnest(
        ${endings.map((one) => one.id)}::text[], ${endings.map((one) => one.claim)}::int[],
        ${endings.map((one) => one.status)}::int[], ${endings.map((one) => one.inferenceMs)}::int[],
        ${endings.map((one) => one.output)}::text[], ${endings.map((one) => one.error)}::text[],
        ${endings.map((one) => one.inputTokens)}::int[], ${endings.map((one) => one.outputTokens)}::int[],
        ${endings.map((one) => one.cachedTokens)}::int[]
      ) as g (id, claim, status, inference_ms, output, error, input_tokens, output_tokens, cached_tokens)
    ), gone as (
      delete from live_predictions l using given g where l.id = g.id and l.claim = g.claim
      returning l.*
    ), ended as (
      insert into ended_predictions
        (id, user_id, key_id, model_id, model_name, route, status, created_at, started_at, inference_ms,
         output, error, input_tokens, output_tokens, cached_tokens)
      select l.id, l.user_id, l.key_id, l.model_id, l.model_name, l.route, g.status, l.created_at, l.started_at,
        g.inference_ms, g.output::json, g.error::json, g.input_tokens, g.output_tokens, g.cached_tokens
      from gone l join given g on g.id = l.id
    ), freed as (
      update model_slots s set running = s.running - d.running, waiting = s.waiting - d.waiting
      from (
        select model_id, count(started_at)::int as running, (count(*) - count(started_at))::int as waiting
        from gone group by model_id
      ) d
      where s.model_id = d.model_id
      returning s.model_id, s.waiting
    )
    select gone.id, gone.user_id as "userId", gone.key_id as "keyId", gone.key_month::text as "keyMonth",
      gone.model_name as "modelName", gone.route, gone.reserved_micros as reserved,
      gone.counts_parallel as "countsParallel", gone.model_id as "modelId", freed.waiting
    from gone join freed on freed.model_id = gone.model_id`;
  return {
    ended: rows,
    waitingModels: [...new Set(rows.filter((row) => row.waiting > 0).map((row) => row.modelId))],
  };
}

/** Gives free slots to those who wait longest, high priority first. The counters must be locked already. */
export async function grantSlots(tx: Transaction, modelIds: readonly string[]): Promise<GrantedSlot[]> {
  return tx<GrantedSlot[]>`
    with room as (
      select s.model_id, greatest(m.capacity - s.running, 0) as free
      from model_slots s join models m on m.id = s.model_id
      where s.model_id = any(${modelIds as string[]}::text[]) and s.waiting > 0
    ), chosen as (
      select line.id from room cross join lateral (
        select id from live_predictions
        where model_id = room.model_id and started_at is null
        order by high_priority desc, created_at limit room.free
      ) line
    ), started as (
      update live_predictions set started_at = clock_timestamp()
      where id in (select id from chosen) returning id, holder, claim, model_id
    ), counted as (
      update model_slots s set running = s.running + d.n, waiting = s.waiting - d.n
      from (select model_id, count(*)::int as n from started group by model_id) d
      where s.model_id = d.model_id
    )
    select id, holder, claim from started`;
}

/** Models where somebody waits although there is room, e.g. because the capacity was raised. */
export async function lockModelsWithRoom(tx: Transaction): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select s.model_id as id from model_slots s join models m on m.id = s.model_id
    where s.waiting > 0 and s.running < m.capacity
    order by s.model_id for update of s`;
  return rows.map((row) => row.id);
}

export async function beat(sql: Sql, nodeId: string): Promise<void> {
  await sql`
    insert into nodes (id) values (${nodeId})
    on conflict (id) do update set heartbeat_at = now()`;
}

/** Predictions whose node is gone: it never was, or has not moved its heartbeat for `seconds`. */
export async function listAbandoned(sql: Sql, seconds: number, limit: number): Promise<{ id: string; claim: number }[]> {
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
export async function listHeldBy(sql: Sql, nodeId: string, olderThanSeconds: number): Promise<{ id: string; claim: number }[]> {
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
export async function findEnded(sql: Sql, { id, userId, modelName }: PredictionAddress): Promise<{ status: number } | undefined> {
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
