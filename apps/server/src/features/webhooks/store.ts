import { type DeliveryStatus, newId, type RunWebhookEvent } from "@gantry/wire";
import type { Sql, Transaction } from "../../engines/database/database.ts";
import { ofKeys, type Scope } from "../accounts/index.ts";
import type { DeliveryAttempt, NewDelivery } from "./webhook.ts";

/** PostgreSQL cannot index much longer texts. New addresses are shorter; earlier versions accepted longer ones. */
const longestDestination = 300;

/**
 * Call it in the transaction that ends the predictions. Senders are notified at commit. One delivery per prediction, or
 * per event of a run.
 */
export async function enqueueDeliveries(tx: Transaction, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  await insertDeliveries(
    tx,
    deliveries.map((one) => ({
      id: newId("delivery"),
      userId: one.userId,
      predictionId: one.predictionId,
      runId: one.run?.runId ?? null,
      event: one.run?.event ?? null,
      modelName: one.modelName,
      destination: one.webhook.destination.slice(0, longestDestination),
      target: one.webhook.target,
      payload: JSON.stringify(one.payload),
      trace: one.trace ?? null,
    })),
  );
}

export const enqueueDelivery = (tx: Transaction, delivery: NewDelivery): Promise<void> =>
  enqueueDeliveries(tx, [delivery]);

/** Notified when a delivery is inserted or resent. */
export const deliveriesChannel = "gantry_webhooks";

export interface NewRow {
  id: string;
  userId: string;
  predictionId: string;
  runId: string | null;
  event: RunWebhookEvent | null;
  modelName: string;
  destination: string;
  target: Uint8Array;
  payload: string;
  trace: string | null;
}

export interface ListedRow {
  id: string;
  userId: string;
  predictionId: string;
  runId: string | null;
  event: RunWebhookEvent | null;
  destination: string;
  target: Uint8Array;
  status: DeliveryStatus;
  attempts: number;
  latencyMs: number | null;
  nextAttemptAt: Date | null;
  lastError: string | null;
  createdAt: Date;
}

export async function insertDeliveries(sql: Sql, rows: readonly NewRow[]): Promise<void> {
  await sql`
    with added as (
      insert into webhook_deliveries (id, user_id, prediction_id, run_id, event, model_name, destination, target, payload,
        trace)
      select id, user_id, prediction_id, run_id, event, model_name, destination, decode(target, 'base64'), payload, trace
      from unnest(
        ${rows.map((row) => row.id)}::text[], ${rows.map((row) => row.userId)}::text[],
        ${rows.map((row) => row.predictionId)}::text[], ${rows.map((row) => row.runId)}::text[],
        ${rows.map((row) => row.event)}::text[], ${rows.map((row) => row.modelName)}::text[],
        ${rows.map((row) => row.destination)}::text[],
        ${rows.map((row) => Buffer.from(row.target).toString("base64"))}::text[],
        ${rows.map((row) => row.payload)}::text[], ${rows.map((row) => row.trace)}::text[]
      ) as given (id, user_id, prediction_id, run_id, event, model_name, destination, target, payload, trace)
      on conflict (prediction_id) do nothing
      returning 1
    )
    select pg_notify(${deliveriesChannel}, '') where exists (select 1 from added)`;
}

const listedFields = (sql: Sql) => sql`
  id, user_id as "userId", prediction_id as "predictionId", run_id as "runId", event, destination, target, status, attempts,
  latency_ms as "latencyMs", case when claimed_by is null then due_at end as "nextAttemptAt",
  last_error as "lastError", created_at as "createdAt"`;

const inScope = (sql: Sql, { userId, onlyKeyIds }: Scope) => sql`
  user_id = ${userId} ${
    onlyKeyIds === null
      ? sql``
      : sql`and case when run_id is null
          then exists (select 1 from ended_predictions e where e.id = prediction_id and ${ofKeys(sql, onlyKeyIds, sql`e.key_id`)})
          else exists (select 1 from runs r where r.id = run_id and ${ofKeys(sql, onlyKeyIds, sql`r.key_id`)}) end`
  }`;

export interface DeliveryFilter {
  predictionId?: string | undefined;
  runId?: string | undefined;
  noticeId?: string | undefined;
  status?: DeliveryStatus | undefined;
}

/** Newest first. `before`: the last id of the page before. */
export async function selectDeliveryIds(
  sql: Sql,
  userId: string,
  before: string | undefined,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from webhook_deliveries
    where user_id = ${userId} ${before === undefined ? sql`` : sql`and id < ${before}`}
    order by id desc limit ${limit}`;
  return rows.map(({ id }) => id);
}

export async function selectDeliveries(
  sql: Sql,
  scope: Scope,
  { predictionId, runId, noticeId, status }: DeliveryFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: ListedRow[]; total: number }> {
  const matching = sql`
    ${inScope(sql, scope)} ${predictionId === undefined ? sql`` : sql`and prediction_id = ${predictionId}`}
    ${runId === undefined ? sql`` : sql`and run_id = ${runId}`}
    ${noticeId === undefined ? sql`` : sql`and prediction_id = ${noticeId}`}
    ${status === undefined ? sql`` : sql`and status = ${status}`}`;
  const [rows, [count]] = await Promise.all([
    sql<ListedRow[]>`
      select ${listedFields(sql)} from webhook_deliveries where ${matching}
      order by id desc limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total from webhook_deliveries where ${matching}`,
  ]);
  return { rows, total: count?.total ?? 0 };
}

export async function findDelivery(
  sql: Sql,
  scope: Scope,
  id: string,
): Promise<(ListedRow & { payload: string }) | undefined> {
  const [row] = await sql<(ListedRow & { payload: string })[]>`
    select ${listedFields(sql)}, payload from webhook_deliveries where id = ${id} and ${inScope(sql, scope)}`;
  return row;
}

/** Newest first, at most `limit`. An attempt without a row has only its number. */
export async function selectAttempts(sql: Sql, id: string, limit: number): Promise<DeliveryAttempt[]> {
  return sql<DeliveryAttempt[]>`
    select n as number, a.at, a.status, a.error, a.latency_ms as "latencyMs", a.response_body as "responseBody"
    from webhook_deliveries d
      cross join generate_series(d.attempts, greatest(1, d.attempts - ${limit - 1}), -1) n
      left join webhook_attempts a on a.delivery_id = d.id and a.number = n
    where d.id = ${id} order by n desc`;
}

/** Test events that were not sent yet. */
export async function countPendingTests(sql: Sql, userId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from webhook_deliveries
    where user_id = ${userId} and status = 'pending' and prediction_id like 'evt\_%'`;
  return row?.count ?? 0;
}

/** Makes a delivery due now with a new schedule. During an attempt it sets a flag for the end of the attempt. */
export async function markForResend(sql: Sql, scope: Scope, id: string): Promise<ListedRow | undefined> {
  const [row] = await sql<ListedRow[]>`
    with marked as (
      update webhook_deliveries
      set resend = claimed_by is not null and due_at > clock_timestamp(), status = 'pending', failures = 0,
        due_at = case when claimed_by is null then clock_timestamp() else due_at end
      where id = ${id} and payload <> '' and ${inScope(sql, scope)}
      returning *
    ), notified as (select pg_notify(${deliveriesChannel}, '') from marked)
    select ${listedFields(sql)} from marked cross join notified`;
  return row;
}

/** Whether a delivery exists whose payload was deleted. */
export async function isErased(sql: Sql, scope: Scope, id: string): Promise<boolean> {
  const rows = await sql`
    select 1 from webhook_deliveries where id = ${id} and payload = '' and ${inScope(sql, scope)}`;
  return rows.length > 0;
}

/** Deletes what the webhook of a prediction says. A delivery that is not sent yet is given up. */
export function erasePayload(sql: Sql, predictionId: string): Promise<void> {
  return erasePayloads(sql, sql`prediction_id = ${predictionId}`, "The content of the prediction was deleted.");
}

/** As `erasePayload`, for all events of runs. */
export function eraseRunPayloads(sql: Sql, runIds: readonly string[]): Promise<void> {
  return erasePayloads(sql, sql`run_id = any (${[...runIds]}::text[])`, "The run was deleted.");
}

async function erasePayloads(sql: Sql, chosen: ReturnType<typeof inScope>, why: string): Promise<void> {
  await sql`
    update webhook_deliveries set payload = '', claimed_by = null, due_at = null, resend = false,
      status = case when status = 'pending' then 'failed' else status end,
      last_error = case when status = 'pending' then ${why} else last_error end
    where ${chosen} and payload <> ''`;
  // Receivers may repeat what they received.
  await sql`
    update webhook_attempts set response_body = null
    where delivery_id in (select id from webhook_deliveries where ${chosen})`;
}

/** Deletes deliveries that have ended. Returns how many: fewer than the limit means that none are left. */
export async function deleteDeliveries(sql: Sql, before: Date, limit: number): Promise<number> {
  const rows = await sql`
    delete from webhook_deliveries where id = any(array(
      select id from webhook_deliveries where created_at < ${before} and status <> 'pending' limit ${limit}
    ))
    returning 1`;
  return rows.length;
}
