import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database } from "../../engines/database/database.ts";
import type { EndedFigures, Telemetry } from "../../engines/telemetry/telemetry.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import { Fault, fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { enqueueDeliveries } from "../webhooks/index.ts";
import { endedUnused, type Outcome, statusOf } from "./prediction.ts";
import { dropInput } from "./queued-input.ts";
import { type LinkOf, resultItem } from "./result-item.ts";
import { type Ending, type GrantedSlot, type Settled, settleEndings, wasEndedAs } from "./store.ts";
import { issuesToStore } from "./stored-fault.ts";
import type { PredictionWriter } from "./write-predictions.ts";

export interface Settlement {
  /**
   * Ends a prediction for good. True when this call ended it, false when it was already ended, or is no longer this
   * claim's to end. Does not give up: an engine that is away is waited for, because what ran must be written down.
   */
  settle(id: string, claim: number, outcome: Outcome, what?: Ended): Promise<boolean>;
}

/**
 * Nothing but a `row`; a `job` is one of this worker's too; `more` may have a webhook, files, fragments or last words, or
 * be followed.
 */
export type Ended = "row" | "job" | "more";

export interface SettlementDeps {
  database: Database;
  blobs: BlobStore;
  log: Log;
  telemetry: Telemetry;
  linkOf: LinkOf;
  /** Ends what is only a row. */
  writer: Pick<PredictionWriter<never>, "end">;
  announceGrants(grants: readonly GrantedSlot[]): Promise<void>;
  /** A slot is free that a queued prediction may take. */
  wakeWorkers(): void;
}

/** The end of one that is more than a row. */
interface Item {
  ending: Ending;
  outcome: Outcome;
  trace: string | undefined;
}

const firstPauseMs = 50;
const longestPauseMs = 2_000;

/** Settlement: group commit, like admission. Whoever waits for the slots that become free gets them in the same commit. */
export function createSettlement(deps: SettlementDeps): Settlement {
  const { database, log, telemetry } = deps;

  async function write(items: readonly Item[]): Promise<Settled> {
    const endings = items.map(({ ending }, n) => ({ n, ...ending }));
    return database.transaction(async (tx) => {
      const settled = await settleEndings(tx, endings);
      const deliveries = settled.webhooks.map(async (webhook) => ({
        userId: webhook.user_id,
        predictionId: webhook.id,
        modelName: webhook.model_name,
        webhook: { destination: webhook.destination, target: Buffer.from(webhook.target, "base64") },
        payload: await payloadOf(webhook, items[webhook.n]),
        trace: items[webhook.n]?.trace ?? null,
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

  /** Nobody waits for it: an input file that stays costs its bytes and nothing else. */
  async function dropLater(id: string, input: Record<string, unknown>): Promise<void> {
    await dropInput(deps.blobs, id, input).catch((error) =>
      log.warn({ prediction_id: id, err: error }, "An input file of an ended prediction could not be removed"),
    );
  }

  const batcher = createBatcher<Item, boolean>({
    maxItems: 512,
    blameItem: (error) => !(error instanceof Fault),
    run: async (items) => {
      const startedAt = performance.now();
      const { ended_n: ended, grants, wake, inputs } = await write(items);
      telemetry.batchWritten("settlement", items.length, performance.now() - startedAt);
      if (grants.length > 0) await deps.announceGrants(grants);
      if (wake) deps.wakeWorkers();
      for (const { id, input } of inputs) void dropLater(id, input);
      const endedNow = new Set(ended);
      return items.map((_, n) => endedNow.has(n));
    },
  });

  function settle(id: string, claim: number, outcome: Outcome, what: Ended = "row"): Promise<boolean> {
    const writing = telemetry.inSpan(
      () => ({ name: "settlement", attributes: { "gantry.prediction_id": id } }),
      () => writeEnd(id, claim, outcome, what),
    );
    return writing.then((isEnded) => {
      if (isEnded) telemetry.predictionEnded(figuresOf(outcome));
      return isEnded;
    });
  }

  async function writeEnd(id: string, claim: number, outcome: Outcome, what: Ended): Promise<boolean> {
    for (let pause = firstPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
      try {
        const ending = toEnding(id, claim, outcome);
        const endedNow = await (what === "more"
          ? batcher.add({ ending, outcome, trace: telemetry.traceparent() })
          : deps.writer.end(ending, what === "job"));
        // A try before this one may have been committed although its answer was lost.
        return endedNow || (pause > firstPauseMs && (await wasEndedAs(database.sql, id, ending.status)));
      } catch (error) {
        if (!isPassing(error)) {
          await writeUnwritable(id, claim, outcome, what, error);
          throw error;
        }
        log.warn({ prediction_id: id, err: error }, "The end of a prediction could not be written, trying again");
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  /** The database will never take this end. What can be written is that there is one: otherwise it ran for ever. */
  async function writeUnwritable(id: string, claim: number, outcome: Outcome, what: Ended, cause: unknown) {
    log.error({ prediction_id: id, err: cause }, "The end of a prediction cannot be written as it is");
    const failure = fault("internal_server_error", "The result could not be stored", { retryable: false });
    if (outcome.kind === "failed" && outcome.fault.type === failure.type) return;
    await writeEnd(id, claim, endedUnused(failure), what);
  }

  return { settle };
}

/** The database is away, or two transactions stood in each other's way: worth another try. */
function isPassing(error: unknown): boolean {
  return error instanceof Fault || (error instanceof Error && "code" in error && /^40/.test(String(error.code)));
}

function figuresOf(outcome: Outcome): EndedFigures {
  const { usage } = outcome;
  return {
    failure: outcome.kind === "failed" ? outcome.fault.type : undefined,
    inputTokens: usage?.inputTokens ?? 0,
    outputTokens: usage?.outputTokens ?? 0,
    cachedTokens: usage?.cachedTokens ?? 0,
    cacheWriteTokens: usage?.cacheWriteTokens ?? 0,
    chargedMicros: outcome.price,
  };
}

function toEnding(id: string, claim: number, outcome: Outcome): Ending {
  const usage = outcome.usage;
  return {
    id,
    claim,
    status: statusOf(outcome),
    inference_ms: outcome.inferenceMs === undefined ? undefined : Math.round(outcome.inferenceMs),
    output: outcome.kind === "done" ? JSON.stringify(outcome.output) : undefined,
    error: outcome.kind === "failed" ? JSON.stringify(issuesToStore(outcome.fault)) : undefined,
    input_tokens: usage?.inputTokens,
    output_tokens: usage?.outputTokens,
    cached_tokens: usage?.cachedTokens,
    cache_write_tokens: usage?.cacheWriteTokens,
    stream_details: outcome.streamDetails && JSON.stringify(outcome.streamDetails),
    price: outcome.price,
    said: outcome.kind === "failed" ? outcome.lastWords : undefined,
  };
}
