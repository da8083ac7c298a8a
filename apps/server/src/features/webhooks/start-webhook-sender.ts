import type { Database } from "../../engines/database/database.ts";
import type { Net } from "../../engines/net/net.ts";
import { noTelemetry, type Telemetry, type WebhookOutcome } from "../../engines/telemetry/telemetry.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import type { Clock } from "../../kernel/clock.ts";
import { Fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { Ring } from "../../kernel/ring.ts";
import { decideAfterAttempt, retrySchedule } from "./attempt.rules.ts";
import { type ClaimedRow, claimDue, lookAhead, type Result, writeResults } from "./claim-store.ts";
import { sendDelivery } from "./send-delivery.ts";
import { createRoomKeeper, type SendLimits } from "./send-quotas.ts";
import { createSigningSecrets, type SealedSecret } from "./signing-secrets.ts";
import { deliveriesChannel } from "./store.ts";

export interface WebhookSenderDeps {
  database: Database;
  net: Net;
  vault: Vault;
  clock: Clock;
  log: Log;
  telemetry?: Telemetry;
  nodeId: string;
  /** What to send of a payload that was made so long ago: something in it may have run out. */
  renewPayload(payload: string, ageMs: number): Promise<string>;
  /** For an attempt, from the call to the status of the answer. */
  timeoutMs?: number;
  /** Longer than an attempt can take: then nobody else sends while this node does. */
  leaseMs?: number;
  schedule?: readonly number[];
  limits?: SendLimits;
}

export interface WebhookSender {
  /** Claims nothing more, and resolves when the attempts under way have ended: within the time of one attempt. */
  stop(): Promise<void>;
}

/** Looks again after this long whatever it heard. */
const longestSleepMs = 30_000;
const pauseAfterErrorMs = 1_000;
const defaultLimits: SendLimits = { total: 256, perLane: 4, perDestination: 32, perUser: 64 };

/**
 * Sends what is due, on every node that has the role. Times of due and lease are the database's, so that nodes need not
 * agree on the hour. A claim that its node did not live to end lapses, and whoever looks next sends again: a receiver
 * may get a delivery twice, under the same `webhook-id`.
 *
 *   sleeping ──NOTIFY | next due time | room became free while more is due──► claim ──► send each ──► write the result
 *      ▲─────────────────────────────────────────────────────────────────────────┘
 */
export async function startWebhookSender(deps: WebhookSenderDeps): Promise<WebhookSender> {
  const { database, log, nodeId, telemetry = noTelemetry } = deps;
  const { timeoutMs = 15_000, schedule = retrySchedule, limits = defaultLimits } = deps;
  const { leaseMs = 2 * timeoutMs } = deps;
  const secrets = createSigningSecrets(deps);
  const keeper = createRoomKeeper(limits);
  const underWay = new Ring<Promise<void>>();
  let stopped = false;
  let timer: { at: number; handle: NodeJS.Timeout } | undefined;
  let pass: Promise<void> | undefined;
  let isWanted = false;
  /** More is due than there is room for. */
  let hasBacklog = false;
  let wasFreed = false;

  function wake(): void {
    isWanted = true;
    if (stopped) return;
    pass ??= passes().finally(() => {
      pass = undefined;
    });
  }

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

  async function passes(): Promise<void> {
    while (isWanted && !stopped) {
      isWanted = false;
      wakeIn(longestSleepMs);
      try {
        await claimAndStart();
      } catch (error) {
        log.warn({ err: error }, "Due webhooks could not be claimed, trying again");
        wakeIn(pauseAfterErrorMs);
        return;
      }
    }
  }

  async function claimAndStart(): Promise<void> {
    wasFreed = false;
    const rooms = keeper.rooms();
    let lookedAt: string | undefined;
    if (rooms.free > 0) {
      const { claimed, missed, at } = await claimDue(database.sql, { nodeId, leaseMs, rooms });
      lookedAt = at;
      if (claimed.length > 0) {
        const byUser = await secrets.liveOf([...new Set(claimed.map((row) => row.userId))]);
        for (const row of claimed) start(row, byUser.get(row.userId) ?? []);
      }
      if (missed > 0) isWanted = true;
    }
    const { isDue, nextInMs } = await lookAhead(database.sql, lookedAt);
    hasBacklog = isDue;
    if (isDue && wasFreed) isWanted = true;
    if (nextInMs !== null) wakeIn(nextInMs);
  }

  function start(row: ClaimedRow, signing: readonly SealedSecret[]): void {
    keeper.take(row.destination, row.userId);
    const attempt = telemetry
      .within(telemetry.resumed(row.trace), () => send(row, signing))
      .catch((error) => log.error({ delivery_id: row.id, err: error }, "The result of a webhook could not be written"))
      .finally(() => {
        keeper.giveBack(row.destination, row.userId);
        place.leave();
        wasFreed = true;
        if (hasBacklog) wake();
      });
    const place = underWay.add(attempt);
  }

  async function send(row: ClaimedRow, signing: readonly SealedSecret[]): Promise<void> {
    const lapsesAt = performance.now() + leaseMs;
    const about = { delivery_id: row.id, prediction_id: row.predictionId, destination: row.destination };
    const { end, cause, drained } = await telemetry.inSpan(
      () => ({ name: "webhook", kind: "producer", attributes: { "gantry.prediction_id": row.predictionId } }),
      () => sendDelivery({ ...deps, timeoutMs }, row, () => secrets.open(signing)),
    );
    if (end.kind === "answered" || end.reason === "timeout") {
      keeper.note(row.destination, row.userId, end.kind === "answered");
    }
    const verdict = decideAfterAttempt(end, row.failures, schedule, Math.random());
    telemetry.webhookAttempted(outcomeOf(verdict.status), end.latencyMs);
    const { failures } = verdict;
    if (cause !== undefined) log.error({ ...about, failures, err: cause }, "A webhook could not be prepared");
    else if (verdict.lastError !== null) log.info({ ...about, failures, outcome: verdict.status }, verdict.lastError);
    const result: Result = { ...verdict, id: row.id, claim: row.claim, latencyMs: end.latencyMs };
    const [dueInMs] = await Promise.all([write(result, lapsesAt), drained]);
    if (dueInMs !== null) wakeIn(dueInMs);
  }

  const batcher = createBatcher<Result, number | null>({
    run: (results) => writeResults(database.sql, results),
    maxItems: 256,
    blameItem: (error) => !(error instanceof Fault),
  });

  /** A database that is away is waited for as long as the claim holds; after that it is another's to send. */
  async function write(result: Result, lapsesAt: number): Promise<number | null> {
    for (;;) {
      try {
        return await batcher.add(result);
      } catch (error) {
        if (!(error instanceof Fault) || performance.now() > lapsesAt) throw error;
        await new Promise((resolve) => setTimeout(resolve, pauseAfterErrorMs));
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
      await pass;
      await Promise.all(underWay.all());
    },
  };
}

function outcomeOf(status: Result["status"]): WebhookOutcome {
  return status === "pending" ? "retried" : status;
}
