import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../engines/database/database.ts";
import type { Net } from "../../engines/net/net.ts";
import {
  type Attributes,
  noTelemetry,
  type Telemetry,
  type WebhookOutcome,
} from "../../engines/telemetry/telemetry.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import type { Clock } from "../../kernel/clock.ts";
import { Fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { Ring } from "../../kernel/ring.ts";
import { singleFlight } from "../../kernel/single-flight.ts";
import { decideAfterAttempt, retrySchedule } from "./attempt.rules.ts";
import { type ClaimedRow, claimDue, type Result, selectWaiting, writeResults } from "./claim-store.ts";
import { composeRunDeliveries, type RunEventDeps } from "./run-events.ts";
import { sendDelivery } from "./send-delivery.ts";
import { createSendSlots, type SendLimits } from "./send-slots.ts";
import { createSigningSecrets, type SealedSecret } from "./signing-secrets.ts";
import { deliveriesChannel } from "./store.ts";
import { isTest } from "./webhook.ts";

export interface WebhookSenderDeps {
  database: Database;
  net: Net;
  vault: Vault;
  clock: Clock;
  log: Log;
  telemetry?: Telemetry;
  nodeId: string;
  /** Replaces what has expired in a payload of that age, such as download links. */
  renewPayload(payload: string, ageMs: number): Promise<string>;
  describeRunEvent: RunEventDeps["describeRunEvent"];
  /** Of one attempt, until the status of the answer has arrived. */
  timeoutMs?: number;
  /** Longer than an attempt can take, so that no other node sends the same delivery meanwhile. */
  leaseMs?: number;
  schedule?: readonly number[];
  limits?: SendLimits;
}

export interface WebhookSender {
  /** Stops claiming. Resolves when the running attempts have ended, at most one timeout later. */
  stop(): Promise<void>;
}

const longestSleepMs = 30_000;
const pauseAfterErrorMs = 1_000;
/** Another node claimed rows at the same moment. */
const pauseAfterConflictMs = 10;
const defaultLimits: SendLimits = { total: 256, perDestination: 32, perReceiver: 4, perUser: 64 };

/**
 * Sends due deliveries on every worker node. Due times and leases use the database's clock, so nodes need not agree on
 * the time. When a node dies, its leases expire and another node sends again: a receiver may get a delivery twice, under
 * the same `webhook-id`.
 *
 *   sleeping ──NOTIFY | next due time | a slot is free and more is due──► claim ──► send each ──► store the result
 *      ▲────────────────────────────────────────────────────────────────────┘
 */
export async function startWebhookSender(deps: WebhookSenderDeps): Promise<WebhookSender> {
  const { database, log, nodeId, telemetry = noTelemetry } = deps;
  const { timeoutMs = 15_000, schedule = retrySchedule, limits = defaultLimits } = deps;
  const { leaseMs = 2 * timeoutMs } = deps;
  const secrets = createSigningSecrets(deps);
  const slots = createSendSlots(limits);
  const running = new Ring<Promise<void>>();
  let stopped = false;
  let timer: { at: number; handle: NodeJS.Timeout } | undefined;
  /** A free slot starts another pass. */
  let hasBacklog = false;

  const wake = singleFlight(async () => {
    if (stopped) return;
    wakeIn(longestSleepMs);
    // Slots that become free during the pass count too.
    hasBacklog = true;
    await claimAndStart().catch((error) => {
      log.warn({ err: error }, "Failed to claim due webhooks. Trying again.");
      wakeIn(pauseAfterErrorMs);
    });
  });

  function wakeIn(milliseconds: number): void {
    const at = performance.now() + Math.min(Math.max(1, Math.ceil(milliseconds)), longestSleepMs);
    if (stopped || (timer && timer.at <= at)) return;
    clearTimeout(timer?.handle);
    const handle = setTimeout(() => {
      timer = undefined;
      wake();
    }, at - performance.now());
    timer = { at, handle };
  }

  async function claimAndStart(): Promise<void> {
    await composeRunDeliveries(deps);
    const { waiting, nextInMs } = await selectWaiting(database.sql);
    const allotted = slots.allot(waiting);
    const wanted = sumOf(allotted.map(({ count }) => count));
    const claimed = wanted === 0 ? [] : await claimDue(database.sql, { nodeId, leaseMs, allotted });
    if (claimed.length > 0) {
      const byUser = await secrets.liveOf([...new Set(claimed.map((row) => row.userId))]);
      for (const row of claimed) start(row, byUser.get(row.userId) ?? []);
    }
    hasBacklog = sumOf(waiting.map(({ due }) => due)) > claimed.length;
    if (claimed.length < wanted) wakeIn(pauseAfterConflictMs);
    if (nextInMs !== null) wakeIn(nextInMs);
  }

  function start(row: ClaimedRow, signing: readonly SealedSecret[]): void {
    slots.take(row);
    const attempt = telemetry
      .within(telemetry.resumed(row.trace), () => send(row, signing))
      .catch((error) => log.error({ delivery_id: row.id, err: error }, "Failed to store the result of a webhook."))
      .finally(() => {
        slots.release(row);
        entry.leave();
        if (hasBacklog) wake();
      });
    const entry = running.add(attempt);
  }

  async function send(row: ClaimedRow, signing: readonly SealedSecret[]): Promise<void> {
    const leaseEndsAt = performance.now() + leaseMs;
    const about = { delivery_id: row.id, prediction_id: row.predictionId, destination: row.destination };
    const { end, answer, cause, drained } = await telemetry.inSpan(
      () => ({ name: "webhook", kind: "producer", attributes: attributesOf(row) }),
      () => sendDelivery({ ...deps, timeoutMs }, row, () => secrets.open(signing)),
    );
    if (end.kind === "answered" || end.reason === "timeout") slots.note(row, end.kind === "answered");
    const verdict = decideAfterAttempt(end, row.failures, isTest(row) ? [] : schedule, Math.random());
    telemetry.webhookAttempted(outcomeOf(verdict.status), end.latencyMs);
    const { failures } = verdict;
    if (cause !== undefined) log.error({ ...about, failures, err: cause }, "Failed to prepare a webhook.");
    else if (verdict.lastError !== null) log.info({ ...about, failures, outcome: verdict.status }, verdict.lastError);
    const result: Result = {
      ...verdict,
      id: row.id,
      claim: row.claim,
      latencyMs: end.latencyMs,
      answer: answer ?? null,
    };
    const [dueInMs] = await Promise.all([write(result, leaseEndsAt), drained]);
    if (dueInMs !== null) wakeIn(dueInMs);
  }

  const batcher = createBatcher<Result, number | null>({
    run: (results) => writeResults(database.sql, results),
    maxItems: 256,
    blameItem: (error) => !(error instanceof Fault),
  });

  /** Retries while the database is unavailable, until the lease ends: then another node sends the delivery. */
  async function write(result: Result, leaseEndsAt: number): Promise<number | null> {
    for (;;) {
      try {
        return await batcher.add(result);
      } catch (error) {
        if (!(error instanceof Fault) || performance.now() > leaseEndsAt) throw error;
        await sleep(pauseAfterErrorMs);
      }
    }
  }

  const listener = await database.listen(deliveriesChannel, wake, wake);
  wake();

  return {
    async stop() {
      stopped = true;
      clearTimeout(timer?.handle);
      await listener.stop();
      await wake();
      await Promise.all(running.all());
    },
  };
}

function outcomeOf(status: Result["status"]): WebhookOutcome {
  return status === "pending" ? "retried" : status;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

function attributesOf({ id, predictionId, runId }: ClaimedRow): Attributes {
  const about = runId === null ? { "gantry.prediction_id": predictionId } : { "gantry.run_id": runId };
  return { ...about, "gantry.delivery_id": id };
}
