import { setTimeout as sleep } from "node:timers/promises";
import type { BlobStore } from "../../../engines/blobs/blobs.ts";
import type { Database } from "../../../engines/database/database.ts";
import type { EndedFigures, Telemetry } from "../../../engines/telemetry/telemetry.ts";
import { createBatcher } from "../../../kernel/batcher.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { Fault, fault } from "../../../kernel/errors.ts";
import type { Log } from "../../../kernel/log.ts";
import { enqueueDeliveries } from "../../webhooks/index.ts";
import type { FlowCounts } from "../admission/flow-counts.ts";
import { type PredictionWriter, todayOf, weightOf } from "../admission/write-predictions.ts";
import { type EndedMore, type Written, writePredictions } from "../admission/write-store.ts";
import { deleteInput } from "../input/stored-input.ts";
import { type Ending, endedUnused, type Fragment, type GrantedSlot, type Outcome, statusOf } from "../prediction.ts";
import { wasEndedAs } from "../store.ts";
import { storeTranscripts } from "./fragments.ts";
import { issuesToStore, type LinkOf, resultItem } from "./result-item.ts";

export interface Settlement {
  /**
   * Ends a prediction. False if it has ended before or another claim owns it. Retries without a limit while an engine is
   * unavailable, because the work is done and must be recorded. `kept`: see `keptText`.
   */
  settle(id: string, claim: number, outcome: Outcome, what?: Ended, kept?: string): Promise<boolean>;
}

/** A `row` has nothing else to write. A `job` also frees a worker slot. `more` may have a webhook, files, fragments or followers. */
export type Ended = "row" | "job" | "more";

export interface SettlementDeps {
  database: Database;
  blobs: BlobStore;
  log: Log;
  telemetry: Telemetry;
  clock: Clock;
  nodeId: string;
  linkOf: LinkOf;
  /** Ends predictions that are only a row. */
  writer: Pick<PredictionWriter, "end">;
  flow: FlowCounts;
  announceGrants(grants: readonly GrantedSlot[]): Promise<void>;
  /** Called when a slot is free that a queued prediction may use. */
  wakeWorkers(): void;
}

interface Item {
  ending: Ending;
  outcome: Outcome;
  unsent: readonly Fragment[] | undefined;
  trace: string | undefined;
}

const firstPauseMs = 50;
const longestPauseMs = 2_000;

/** Group commit, like admission. Freed slots go to waiting predictions in the same commit. */
export function createSettlement(deps: SettlementDeps): Settlement {
  const { database, log, telemetry, nodeId } = deps;

  async function write(items: readonly Item[]): Promise<Written> {
    const endings = items.map(({ ending }) => ending);
    return database.transaction(async (tx) => {
      const written = await writePredictions(tx, [], endings, { nodeId, today: todayOf(deps.clock), withMore: true });
      const ended = (written.ended ?? []).flatMap((n) => items[n] ?? []);
      await storeTranscripts(
        tx,
        ended.map(({ ending }) => ending.id),
        ended.flatMap(({ ending: { id }, unsent }) => (unsent ? [{ id, fragments: unsent }] : [])),
      );
      const deliveries = (written.more ?? []).flatMap((one) =>
        one.target === null ? [] : [deliveryOf(one, items[one.n])],
      );
      await enqueueDeliveries(tx, await Promise.all(deliveries));
      return written;
    });
  }

  async function deliveryOf(one: EndedMore, item: Item | undefined) {
    return {
      userId: one.user_id,
      predictionId: one.id,
      modelName: one.model_name,
      webhook: { destination: one.destination ?? "", target: Buffer.from(one.target ?? "", "base64") },
      payload: await payloadOf(one, item),
      trace: item?.trace ?? null,
    };
  }

  async function payloadOf(one: EndedMore, item: Item | undefined): Promise<object> {
    if (!item) throw new Error("an unrequested prediction ended");
    const { outcome, ending } = item;
    const result = await resultItem(
      {
        id: one.id,
        userId: one.user_id,
        status: ending.status,
        inferenceMs: ending.inferenceMs ?? null,
        output: outcome.kind === "done" ? outcome.output : null,
        error: outcome.kind === "failed" ? [...outcome.fault.issues] : null,
        streamDetails: outcome.streamDetails ?? null,
      },
      one.base_url,
      deps.linkOf,
    );
    return { prediction_id: one.id, model: one.model_name, ...result };
  }

  /** In the background: a file that remains only takes up space. */
  async function dropLater(id: string, input: Record<string, unknown>): Promise<void> {
    await deleteInput(deps.blobs, id, input).catch((error) =>
      log.warn({ prediction_id: id, err: error }, "An input file of an ended prediction could not be deleted"),
    );
  }

  const batcher = createBatcher<Item, boolean>({
    maxItems: 512,
    weigh: ({ ending }) => weightOf(ending),
    blameItem: (error) => !(error instanceof Fault),
    run: async (items) => {
      const startedAt = performance.now();
      const written = await write(items);
      telemetry.batchWritten("settlement", items.length, performance.now() - startedAt);
      for (const modelId of written.endedModels ?? []) deps.flow.ended(modelId);
      if (written.grants) await deps.announceGrants(written.grants);
      if (written.wake) deps.wakeWorkers();
      for (const { id, input } of written.more ?? []) if (input) void dropLater(id, input);
      const endedNow = new Set(written.ended);
      return items.map((_, n) => endedNow.has(n));
    },
  });

  function settle(id: string, claim: number, outcome: Outcome, what: Ended = "row", kept?: string): Promise<boolean> {
    const writing = telemetry.inSpan(
      () => ({ name: "settlement", attributes: { "gantry.prediction_id": id } }),
      () => writeEnd(id, claim, outcome, what, kept),
    );
    return writing.then((isEnded) => {
      if (isEnded) telemetry.predictionEnded(figuresOf(outcome));
      return isEnded;
    });
  }

  async function writeEnd(id: string, claim: number, outcome: Outcome, what: Ended, kept?: string): Promise<boolean> {
    for (let pause = firstPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
      try {
        const ending = { ...toEnding(id, claim, outcome), kept };
        const endedNow = await (what === "more"
          ? batcher.add({
              ending,
              outcome,
              unsent: outcome.kind === "failed" ? outcome.unsentFragments : undefined,
              trace: telemetry.traceparent(),
            })
          : deps.writer.end(ending, what === "job"));
        // An earlier attempt may have been committed although its reply was lost.
        return endedNow || (pause > firstPauseMs && (await wasEndedAs(database.sql, id, ending.status)));
      } catch (error) {
        if (!isTransient(error)) {
          await writeUnwritable(id, claim, outcome, what, error);
          throw error;
        }
        log.warn({ prediction_id: id, err: error }, "The end of a prediction could not be written; retrying");
        await sleep(pause);
      }
    }
  }

  /** The database rejects this end for good. A failure is written instead, or the prediction would never end. */
  async function writeUnwritable(id: string, claim: number, outcome: Outcome, what: Ended, cause: unknown) {
    log.error({ prediction_id: id, err: cause }, "The database rejects the end of a prediction");
    const failure = fault("internal_server_error", "The result could not be stored", { retryable: false });
    if (outcome.kind === "failed" && outcome.fault.type === failure.type) return;
    await writeEnd(id, claim, endedUnused(failure), what);
  }

  return { settle };
}

/** The database is unavailable, or two transactions conflicted. */
function isTransient(error: unknown): boolean {
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
    inferenceMs: outcome.inferenceMs === undefined ? undefined : Math.round(outcome.inferenceMs),
    output: outcome.kind === "done" ? JSON.stringify(outcome.output) : undefined,
    error: outcome.kind === "failed" ? JSON.stringify(issuesToStore(outcome.fault)) : undefined,
    inputTokens: usage?.inputTokens,
    outputTokens: usage?.outputTokens,
    cachedTokens: usage?.cachedTokens,
    cacheWriteTokens: usage?.cacheWriteTokens,
    streamDetails: outcome.streamDetails && JSON.stringify(outcome.streamDetails),
    price: outcome.price,
    backend: outcome.backend || undefined,
  };
}
