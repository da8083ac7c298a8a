import type { Database } from "../../engines/database/database.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import { Fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { enqueueDeliveries } from "../webhooks/index.ts";
import { type Outcome, statusOf } from "./prediction.ts";
import { type LinkOf, resultItem } from "./result-item.ts";
import { type Ending, type GrantedSlot, type Settled, settleEndings, wasEndedAs } from "./store.ts";

export interface Settlement {
  /**
   * Ends a prediction for good. True when this call ended it, false when it was already ended, or is no longer this
   * claim's to end. Does not give up: an engine that is away is waited for, because what ran must be written down.
   * `queued` must be set where it may be an asynchronous one.
   */
  settle(id: string, claim: number, outcome: Outcome, queued?: boolean): Promise<boolean>;
}

export interface SettlementDeps {
  database: Database;
  log: Log;
  linkOf: LinkOf;
  announceGrants(grants: readonly GrantedSlot[]): Promise<void>;
  /** A slot is free that a queued prediction may take. */
  wakeWorkers(): void;
}

interface Item {
  ending: Ending;
  outcome: Outcome;
  queued: boolean;
}

const firstPauseMs = 50;
const longestPauseMs = 2_000;

/** Settlement: group commit, like admission. Whoever waits for the slots that become free gets them in the same commit. */
export function createSettlement(deps: SettlementDeps): Settlement {
  const { database, log } = deps;

  async function write(items: readonly Item[]): Promise<Settled> {
    const endings = items.map((item) => item.ending);
    if (!items.some((item) => item.queued)) return settleEndings(database.sql, endings);
    return database.transaction(async (tx) => {
      const settled = await settleEndings(tx, endings);
      const outcomes = new Map(items.map((item) => [item.ending.id, item]));
      const deliveries = settled.webhooks.map(async (webhook) => ({
        userId: webhook.user_id,
        predictionId: webhook.id,
        modelName: webhook.model_name,
        webhook: { destination: webhook.destination, target: Buffer.from(webhook.target, "base64") },
        payload: await payloadOf(webhook, outcomes.get(webhook.id)),
      }));
      await enqueueDeliveries(tx, await Promise.all(deliveries));
      return settled;
    });
  }

  async function payloadOf(webhook: Settled["webhooks"][number], item: Item | undefined): Promise<object> {
    if (!item) throw new Error("a prediction ended that nobody asked to end");
    const { outcome, ending } = item;
    const result = await resultItem(
      {
        id: webhook.id,
        userId: webhook.user_id,
        status: ending.status,
        inferenceMs: ending.inference_ms ?? null,
        output: outcome.kind === "done" ? outcome.output : null,
        error: outcome.kind === "failed" ? outcome.fault.issues : null,
        streamDetails: outcome.streamDetails ?? null,
      },
      webhook.base_url,
      deps.linkOf,
    );
    return { prediction_id: webhook.id, model: webhook.model_name, ...result };
  }

  const batcher = createBatcher<Item, boolean>({
    maxItems: 512,
    blameItem: (error) => !(error instanceof Fault),
    run: async (items) => {
      const { ended, grants, wake } = await write(items);
      if (grants.length > 0) await deps.announceGrants(grants);
      if (wake) deps.wakeWorkers();
      const endedNow = new Set(ended);
      return items.map((item) => endedNow.has(item.ending.id));
    },
  });

  async function settle(id: string, claim: number, outcome: Outcome, queued = false): Promise<boolean> {
    const item = { ending: toEnding(id, claim, outcome), outcome, queued };
    for (let pause = firstPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
      try {
        const endedNow = await batcher.add(item);
        // A try before this one may have been committed although its answer was lost.
        return endedNow || (pause > firstPauseMs && (await wasEndedAs(database.sql, id, item.ending.status)));
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        log.warn({ prediction_id: id, err: error }, "The end of a prediction could not be written, trying again");
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  return { settle };
}

function toEnding(id: string, claim: number, outcome: Outcome): Ending {
  const usage = outcome.usage;
  return {
    id,
    claim,
    status: statusOf(outcome),
    inference_ms: outcome.inferenceMs === undefined ? undefined : Math.round(outcome.inferenceMs),
    output: outcome.kind === "done" ? JSON.stringify(outcome.output) : undefined,
    error: outcome.kind === "failed" ? JSON.stringify(outcome.fault.issues) : undefined,
    input_tokens: usage?.inputTokens,
    output_tokens: usage?.outputTokens,
    cached_tokens: usage?.cachedTokens,
    stream_details: outcome.streamDetails && JSON.stringify(outcome.streamDetails),
    price: outcome.price,
  };
}
