import type { RunWebhookEvent } from "@gantry/wire";
import type { Database, Sql } from "../../engines/database/database.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import type { Log } from "../../kernel/log.ts";
import { enqueueDeliveries } from "./store.ts";
import { type NewDelivery, openTarget, type SealedWebhook, sealWebhook, type Webhook } from "./webhook.ts";

/** An event of a run that has no delivery yet. */
export interface RunEvent {
  runId: string;
  event: RunWebhookEvent;
  /** Empty if the event is not about a confirmation. */
  confirmationId: string;
  at: Date;
}

export interface RunEventDeps {
  database: Database;
  vault: Vault;
  log: Log;
  /** The body of the delivery; undefined if the run does not exist any more. */
  describeRunEvent(event: RunEvent): Promise<object | undefined>;
}

/** Call it in the transaction that stores the run. */
export async function storeRunWebhook(
  sql: Sql,
  vault: Vault,
  { userId, runId }: { userId: string; runId: string },
  { events, ...webhook }: Webhook & { events: readonly RunWebhookEvent[] },
): Promise<void> {
  const { destination, target } = sealWebhook(vault, { userId, predictionId: runId }, webhook);
  await sql`
    insert into run_webhooks (run_id, user_id, destination, target, events)
    values (${runId}, ${userId}, ${destination}, ${target as Buffer}, ${[...events]}::text[])`;
}

/** Few, because they are described in an open transaction. */
const batch = 16;
const pauseAfterErrorMs = 30_000;

/**
 * Turns events of runs into deliveries. A run stores only the event: its record is composed here, where the code of the API
 * is known, and before the first attempt, so that every attempt sends the same bytes.
 */
export async function composeRunDeliveries(deps: RunEventDeps): Promise<void> {
  for (let taken = batch; taken === batch; ) {
    taken = await deps.database.transaction(async (tx) => {
      const events = await lockDueEvents(tx, batch);
      const failed: RunEvent[] = [];
      const deliveries: NewDelivery[] = [];
      for (const event of events) {
        try {
          deliveries.push(...(await deliveryOf(deps, event)));
        } catch (error) {
          deps.log.error({ run_id: event.runId, event: event.event, err: error }, "Failed to compose a webhook.");
          failed.push(event);
        }
      }
      await enqueueDeliveries(tx, deliveries);
      await postponeEvents(tx, failed);
      await deleteEvents(
        tx,
        events.filter((event) => !failed.includes(event)),
      );
      return events.length;
    });
  }
}

interface StoredEvent extends RunEvent {
  userId: string;
  agentName: string | null;
  target: SealedWebhook["target"];
  trace: string | null;
}

async function deliveryOf({ vault, describeRunEvent }: RunEventDeps, event: StoredEvent): Promise<NewDelivery[]> {
  const payload = await describeRunEvent(event);
  if (payload === undefined) return [];
  const { userId, runId, confirmationId, trace } = event;
  // One delivery for each text.
  const predictionId = `${runId}.${confirmationId === "" ? event.event : confirmationId}`;
  const target = openTarget(vault, { userId, predictionId: runId }, event.target);
  return [
    {
      userId,
      predictionId,
      run: { runId, event: event.event },
      modelName: event.agentName ?? "",
      webhook: sealWebhook(vault, { userId, predictionId }, target),
      payload,
      trace,
    },
  ];
}

async function lockDueEvents(sql: Sql, limit: number): Promise<StoredEvent[]> {
  return sql<StoredEvent[]>`
    select e.run_id as "runId", e.event, e.confirmation_id as "confirmationId", e.created_at as at, w.user_id as "userId",
      w.target, r.sale_name as "agentName", r.trace
    from run_webhook_events e join run_webhooks w on w.run_id = e.run_id join runs r on r.id = e.run_id
    where e.due_at <= now() order by e.due_at limit ${limit} for update of e skip locked`;
}

const among = (sql: Sql, events: readonly RunEvent[]) => sql`
  (run_id, event, confirmation_id) in (
    select * from unnest(${events.map(({ runId }) => runId)}::text[], ${events.map(({ event }) => event)}::text[],
      ${events.map(({ confirmationId }) => confirmationId)}::text[]))`;

async function deleteEvents(sql: Sql, events: readonly RunEvent[]): Promise<void> {
  if (events.length > 0) await sql`delete from run_webhook_events where ${among(sql, events)}`;
}

/** Others come first. */
async function postponeEvents(sql: Sql, events: readonly RunEvent[]): Promise<void> {
  if (events.length === 0) return;
  await sql`
    update run_webhook_events set due_at = now() + ${pauseAfterErrorMs} * interval '1 ms' where ${among(sql, events)}`;
}
