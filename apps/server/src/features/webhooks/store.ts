import { type DeliveryStatus, newId } from "@gantry/wire";
import type { Sql, Transaction } from "../../engines/database/database.ts";
import type { Scope } from "../accounts/index.ts";
import type { NewDelivery } from "./webhook.ts";

/** Call it in the transaction that ends the predictions. Senders are notified at commit. One delivery per prediction. */
export async function enqueueDeliveries(tx: Transaction, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  await insertDeliveries(
    tx,
    deliveries.map((one) => ({
      id: newId("delivery"),
      userId: one.userId,
      predictionId: one.predictionId,
      modelName: one.modelName,
      destination: one.webhook.destination,
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
      insert into webhook_deliveries (id, user_id, prediction_id, model_name, destination, target, payload, trace)
      select id, user_id, prediction_id, model_name, destination, decode(target, 'base64'), payload, trace
      from unnest(
        ${rows.map((row) => row.id)}::text[], ${rows.map((row) => row.userId)}::text[],
        ${rows.map((row) => row.predictionId)}::text[], ${rows.map((row) => row.modelName)}::text[],
        ${rows.map((row) => row.destination)}::text[],
        ${rows.map((row) => Buffer.from(row.target).toString("base64"))}::text[],
        ${rows.map((row) => row.payload)}::text[], ${rows.map((row) => row.trace)}::text[]
      ) as given (id, user_id, prediction_id, model_name, destination, target, payload, trace)
      on conflict (prediction_id) do nothing
      returning 1
    )
    select pg_notify(${deliveriesChannel}, '') where exists (select 1 from added)`;
}

const listedFields = (sql: Sql) => sql`
  id, user_id as "userId", prediction_id as "predictionId", destination, target, status, attempts,
  latency_ms as "latencyMs", case when claimed_by is null then due_at end as "nextAttemptAt",
  last_error as "lastError", created_at as "createdAt"`;

const inScope = (sql: Sql, { userId, onlyKeyId }: Scope) => sql`
  user_id = ${userId} ${
    onlyKeyId === null
      ? sql``
      : sql`and exists (select 1 from ended_predictions e where e.id = prediction_id and e.key_id = ${onlyKeyId})`
  }`;

export interface DeliveryFilter {
  predictionId?: string | undefined;
  status?: DeliveryStatus | undefined;
}

export async function selectDeliveries(
  sql: Sql,
  scope: Scope,
  { predictionId, status }: DeliveryFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: ListedRow[]; total: number }> {
  const matching = sql`
    ${inScope(sql, scope)} ${predictionId === undefined ? sql`` : sql`and prediction_id = ${predictionId}`}
    ${status === undefined ? sql`` : sql`and status = ${status}`}`;
  const [rows, [count]] = await Promise.all([
    sql<ListedRow[]>`
      select ${listedFields(sql)} from webhook_deliveries where ${matching}
      order by id desc limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total from webhook_deliveries where ${matching}`,
  ]);
  return { rows, total: count?.total ?? 0 };
}

/** Makes a delivery due now with a new schedule. During an attempt it sets a flag for the end of the attempt. */
export async function markForResend(sql: Sql, scope: Scope, id: string): Promise<ListedRow | undefined> {
  const [row] = await sql<ListedRow[]>`
    with marked as (
      update webhook_deliveries
      set resend = claimed_by is not null and due_at > clock_timestamp(), status = 'pending', failures = 0,
        due_at = case when claimed_by is null then clock_timestamp() else due_at end
      where id = ${id} and ${inScope(sql, scope)}
      returning *
    ), notified as (select pg_notify(${deliveriesChannel}, '') from marked)
    select ${listedFields(sql)} from marked cross join notified`;
  return row;
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
