import type { TriggerDeliveryStatus } from "@gantry/wire";
import type { Sql, Transaction } from "../../engines/database/database.ts";
import { andOfKeys, type Page, type Scope } from "../accounts/index.ts";
import type { ListedTrigger, Trigger, TriggerDelivery } from "./trigger.ts";

/** As text: the driver would send json through jsonb, which loses the order of fields. */
const asJson = (sql: Sql, value: unknown) => sql`${value === null ? null : JSON.stringify(value)}::text::json`;

const columns = (sql: Sql) => sql`
  t.id, t.owner_id as "ownerId", t.agent_id as "agentId", t.key_id as "keyId", t.secret_hash as "secretHash", t.name,
  t.input, t.verification, t.verification_secret as "verificationSecret", t.delivery_id as "deliveryId", t.enabled,
  t.overlap, t.max_cost as "maxCost", t.approve, t.connectors, t.thread_id as "threadId",
  t.expected_price as "expectedPrice", t.paused_reason as "pausedReason", t.created_at as "createdAt",
  t.updated_at as "updatedAt"`;

export async function selectTriggers(sql: Sql, ids: readonly string[]): Promise<Trigger[]> {
  return sql<Trigger[]>`select ${columns(sql)} from triggers t where t.id = any (${[...ids]}::text[])`;
}

/** The agent's name as the owner of the trigger may know it. */
const listedColumns = (sql: Sql) => sql`
  ${columns(sql)}, coalesce(v.snapshot ->> 'name', t.agent_id) as "agentName",
  (select d.created_at from trigger_deliveries d where d.trigger_id = t.id order by d.id desc limit 1) as "lastDeliveryAt",
  (select r.id from runs r where r.source_id = t.id order by r.id desc limit 1) as "lastRunId"`;

const listedTables = (sql: Sql) => sql`
  triggers t join agents a on a.id = t.agent_id
  left join agent_revisions v on v.id = case when a.owner_id = t.owner_id then a.latest_revision_id
    when a.visibility = 'public' and a.deleted_at is null then a.published_revision_id end`;

const inScope = (sql: Sql, { userId, onlyKeyIds }: Scope) =>
  sql`t.owner_id = ${userId} ${andOfKeys(sql, { onlyKeyIds }, sql`t.key_id`)}`;

export async function findOwn(sql: Sql, scope: Scope, id: string): Promise<ListedTrigger | undefined> {
  const [found] = await sql<ListedTrigger[]>`
    select ${listedColumns(sql)} from ${listedTables(sql)} where t.id = ${id} and ${inScope(sql, scope)}`;
  return found;
}

/** The trigger, locked. */
export async function lockOwn(tx: Transaction, scope: Scope, id: string): Promise<ListedTrigger | undefined> {
  await tx`select 1 from triggers t where t.id = ${id} and ${inScope(tx, scope)} for update`;
  return findOwn(tx, scope, id);
}

export async function listOwn(
  sql: Sql,
  scope: Scope,
  { agentId, limit, offset }: { agentId: string | undefined; limit: number; offset: number },
): Promise<Page<ListedTrigger>> {
  const chosen = sql`${inScope(sql, scope)} ${agentId === undefined ? sql`` : sql`and t.agent_id = ${agentId}`}`;
  const [counted] = await sql<{ total: number }[]>`select count(*)::int as total from triggers t where ${chosen}`;
  const entries = await sql<ListedTrigger[]>`
    select ${listedColumns(sql)} from ${listedTables(sql)} where ${chosen}
    order by t.id desc limit ${limit} offset ${offset}`;
  return { entries, total: counted?.total ?? 0 };
}

/** False if the owner has `most` already. */
export async function insertTrigger(sql: Sql, trigger: Trigger, most: number): Promise<boolean> {
  const rows = await sql`
    insert into triggers (id, owner_id, agent_id, key_id, secret_hash, name, input, verification, verification_secret,
      delivery_id, enabled, overlap, max_cost, approve, connectors, thread_id, expected_price)
    select ${trigger.id}, ${trigger.ownerId}, ${trigger.agentId}, ${trigger.keyId}, ${trigger.secretHash as Buffer},
      ${trigger.name}, ${asJson(sql, trigger.input)}, ${asJson(sql, trigger.verification)},
      ${trigger.verificationSecret as Buffer | null}, ${asJson(sql, trigger.deliveryId)}, ${trigger.enabled},
      ${trigger.overlap}, ${trigger.maxCost}, ${[...trigger.approve]}::text[], ${[...trigger.connectors]}::text[],
      ${trigger.threadId}, ${trigger.expectedPrice}
    where (select count(*) from triggers where owner_id = ${trigger.ownerId}) < ${most}
    returning 1`;
  return rows.length > 0;
}

/** Writes all fields that a request can change. */
export async function updateTrigger(sql: Sql, trigger: Trigger): Promise<void> {
  await sql`
    update triggers set key_id = ${trigger.keyId}, name = ${trigger.name}, input = ${asJson(sql, trigger.input)},
      verification = ${asJson(sql, trigger.verification)},
      verification_secret = ${trigger.verificationSecret as Buffer | null},
      delivery_id = ${asJson(sql, trigger.deliveryId)}, enabled = ${trigger.enabled}, overlap = ${trigger.overlap},
      max_cost = ${trigger.maxCost}, approve = ${[...trigger.approve]}::text[],
      connectors = ${[...trigger.connectors]}::text[], thread_id = ${trigger.threadId},
      expected_price = ${trigger.expectedPrice}, paused_reason = ${trigger.pausedReason}, updated_at = now()
    where id = ${trigger.id} and owner_id = ${trigger.ownerId}`;
}

export async function replaceSecret(
  sql: Sql,
  { id, ownerId, keyId, secretHash }: Pick<Trigger, "id" | "ownerId" | "keyId"> & { secretHash: Buffer },
): Promise<boolean> {
  const rows = await sql`
    update triggers set secret_hash = ${secretHash}, key_id = ${keyId}, updated_at = now()
    where id = ${id} and owner_id = ${ownerId} returning 1`;
  return rows.length > 0;
}

/** Unless it was changed since it was read. */
export async function pause(sql: Sql, { id, updatedAt }: Trigger, reason: string): Promise<void> {
  await sql`
    update triggers set paused_reason = ${reason}
    where id = ${id} and paused_reason is null and date_trunc('milliseconds', updated_at) = ${updatedAt}`;
}

export async function deleteTrigger(sql: Sql, scope: Scope, id: string): Promise<boolean> {
  const rows = await sql`delete from triggers t where t.id = ${id} and ${inScope(sql, scope)} returning 1`;
  return rows.length > 0;
}

/** Counted up to the bound. */
export async function countLiveRuns(sql: Sql, triggerId: string, most: number): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from (
      select from runs where source_id = ${triggerId} and completed_at is null limit ${most}) live`;
  return row?.n ?? 0;
}

export async function findAccepted(sql: Sql, triggerId: string, deliveryId: string): Promise<string | undefined> {
  const [row] = await sql<{ runId: string }[]>`
    select run_id as "runId" from trigger_deliveries
    where trigger_id = ${triggerId} and delivery_id = ${deliveryId} and status = 'accepted'`;
  return row?.runId;
}

export interface NewTriggerDelivery {
  id: string;
  triggerId: string;
  deliveryId: string | undefined;
  status: TriggerDeliveryStatus;
  reason?: string | undefined;
  runId?: string | undefined;
}

/** The body of a request may arrive long after its trigger was read. The lock keeps changes out until the run is stored. */
const stillAccepts = (sql: Sql, { secretHash, verificationSecret }: Trigger) => sql`
  and t.enabled and t.paused_reason is null and t.secret_hash = ${secretHash as Buffer}
  and t.verification_secret is not distinct from ${verificationSecret as Buffer | null}::bytea
  for share of t`;

/**
 * False if the delivery was accepted before, or if `by`, as it was read, must not start runs any more. Waits for a
 * transaction that is accepting the delivery.
 */
export async function insertDelivery(sql: Sql, delivery: NewTriggerDelivery, by?: Trigger): Promise<boolean> {
  const rows = await sql`
    insert into trigger_deliveries (id, trigger_id, delivery_id, status, reason, run_id)
    select ${delivery.id}, t.id, ${delivery.deliveryId ?? null}, ${delivery.status}, ${delivery.reason ?? null},
      ${delivery.runId ?? null}
    from triggers t where t.id = ${delivery.triggerId} ${by ? stillAccepts(sql, by) : sql``}
    on conflict (trigger_id, delivery_id) where status = 'accepted' do nothing
    returning 1`;
  return rows.length > 0;
}

export async function listDeliveries(
  sql: Sql,
  triggerId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<Page<TriggerDelivery>> {
  const [counted] = await sql<{ total: number }[]>`
    select count(*)::int as total from trigger_deliveries where trigger_id = ${triggerId}`;
  const entries = await sql<TriggerDelivery[]>`
    select id, delivery_id as "deliveryId", status, reason, run_id as "runId", created_at as "createdAt"
    from trigger_deliveries where trigger_id = ${triggerId} order by id desc limit ${limit} offset ${offset}`;
  return { entries, total: counted?.total ?? 0 };
}

/** The newest of each trigger stays. Returns how many were deleted: fewer than the limit means that none are left. */
export async function deleteOldDeliveries(sql: Sql, before: Date, limit: number): Promise<number> {
  const rows = await sql`
    delete from trigger_deliveries where id = any (array(
      select d.id from trigger_deliveries d
      where d.created_at < ${before}
        and exists (select from trigger_deliveries newer where newer.trigger_id = d.trigger_id and newer.id > d.id)
      limit ${limit}))
    returning 1`;
  return rows.length;
}
