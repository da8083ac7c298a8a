import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database } from "../../engines/database/database.ts";
import type { InputValue } from "../../engines/models/driver.ts";
import type { Queue } from "../../engines/queue/queue.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Micros } from "../../kernel/money.ts";
import type { Scope } from "../accounts/index.ts";
import { reservationOf } from "../billing/index.ts";
import type { Model } from "../models/index.ts";
import type { Nodes } from "../nodes/index.ts";
import {
  createAdmission,
  type LookRequest,
  lookAtLimits,
  type RateFigures,
  readRate,
} from "./admission/admit-predictions.ts";
import { countFlow } from "./admission/flow-counts.ts";
import { termsFor } from "./admission/reserve.ts";
import { createPredictionWriter } from "./admission/write-predictions.ts";
import { startCancellation } from "./execution/cancel-prediction.ts";
import {
  type ChatEnd,
  type ChatRequest,
  chatWithModel,
  type RecalledCall,
  recallCall,
  recallChat,
} from "./execution/chat-with-model.ts";
import type { ExecutionDeps } from "./execution/execute-prediction.ts";
import { createHeldPredictions } from "./execution/held-predictions.ts";
import { type RunEnd, type RunRequest, runPrediction } from "./execution/run-prediction.ts";
import { startCallsOfAgents, startGrantAnnouncements } from "./execution/slot-grants.ts";
import { startSweeper } from "./execution/sweep-predictions.ts";
import {
  type IdempotentRequest,
  type IdempotentStart,
  mayBeRepeat,
  startIdempotent,
} from "./idempotency/idempotency.ts";
import { type AsyncDeps, type AsyncRequest, acceptAsync } from "./queue/accept-async.ts";
import { createWorker } from "./queue/work-on-jobs.ts";
import { followPrediction, watchFollowers } from "./result/follow-prediction.ts";
import { startEndedNotices } from "./result/prediction-feed.ts";
import { awaitEnd, readResult } from "./result/read-result.ts";
import type { LinkOf, ResultItem } from "./result/result-item.ts";
import { createSettlement } from "./result/settle-predictions.ts";
import { type EndedPrediction, type FlowFigures, isOwn, type PredictionAddress, selectFlow } from "./store.ts";

export interface PredictionsDeps extends ExecutionDeps, Pick<AsyncDeps, "countTokens" | "sealWebhook"> {
  database: Database;
  blobs: BlobStore;
  queue: Queue;
  clock: Clock;
  log: Log;
  nodeId: string;
  nodes: Nodes;
  linkOf: LinkOf;
  acceptedModel(id: string, endpointId: string): Promise<Model | undefined>;
  /** Queued predictions run at once on this node; 0: this node is no worker. */
  workerParallel: number;
}

interface Reading {
  base: string;
  signal: AbortSignal;
}

export interface Predictions {
  /** Runs a prediction whose client is connected here. */
  run(request: RunRequest): Promise<RunEnd>;
  /** Calls a text model for an agent's run; rejects when it was not admitted. */
  chat(request: ChatRequest): Promise<ChatEnd>;
  /** What became of a call that a dead node made. */
  recallChat(predictionId: string): Promise<ChatEnd | undefined>;
  /** The same for a call that was no conversation. */
  recallCall(predictionId: string): Promise<RecalledCall | undefined>;
  /** What a prediction of this input would reserve. */
  mostCost(model: Model, input: Readonly<Record<string, InputValue>>): Promise<Micros>;
  /** Queues one for a worker. */
  accept(request: AsyncRequest): Promise<{ predictionId: string; rate: RateFigures | undefined }>;
  /** Rejects as admission would: key, model, funds, limits. */
  look(request: LookRequest): Promise<RateFigures | undefined>;
  /** What the plan's limit still allows: looked at, not counted, and never a refusal. */
  rate(request: Omit<LookRequest, "counts">): Promise<RateFigures | undefined>;
  startIdempotent(request: IdempotentRequest): Promise<IdempotentStart>;
  /** Whether the key has a first request, whose answer a repeat gets. */
  mayBeRepeat(request: Pick<IdempotentRequest, keyof Scope | "modelName" | "key">): Promise<boolean>;
  /** The ended prediction, or undefined while it is live after the time, or when this node goes down. */
  awaitEnd(address: PredictionAddress, waitMs: number, signal: AbortSignal): Promise<EndedPrediction | undefined>;
  result(address: PredictionAddress, options: Reading & { waitMs: number }): Promise<ResultItem>;
  follow(address: PredictionAddress, options: Reading): AsyncGenerator<Record<string, unknown>>;
  /** Whether the user has begun it. */
  isOwn(address: PredictionAddress): Promise<boolean>;
  /** Answers the terminal status. */
  cancel(address: PredictionAddress): Promise<number>;
  flow(modelId: string): Promise<FlowFigures>;
  /** How many this process holds. */
  underWay(): number;
  /**
   * Lets running ones end within the time; the rest is handed back to the queue, or ends with its client's answer, as a
   * failure of ours. Who waits for a result is answered at once.
   */
  drain(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

const lookAgainMs = 20;
/** After this the database is away for good, and the next start ends what is left. */
const lastWritesMs = 5_000;

export async function openPredictions(deps: PredictionsDeps): Promise<Predictions> {
  const { database, log, nodeId, nodes, queue } = deps;
  const held = createHeldPredictions();
  const wakeWorkers = () => void queue.wake("predictions");
  const grants = await startGrantAnnouncements(database, nodeId, held);
  const notices = await startEndedNotices(database);
  const announceGrants = grants.announce;
  const flow = countFlow(database, log);
  const writer = createPredictionWriter({
    ...deps,
    flow,
    announceGrants,
    wakeWorkers,
    takeFreedSlots: (freed) => worker.takeFreedSlots(freed),
  });
  const settlement = createSettlement({ ...deps, writer, flow, announceGrants, wakeWorkers });
  const worker = createWorker({ ...deps, held, settlement, wakeWorkers, parallel: deps.workerParallel });
  const cancellation = await startCancellation({ database, nodeId, nodes, held, settlement });
  const followers = await watchFollowers(database, held);
  const sweeper = await startSweeper({ database, log, nodeId, nodes, held, settlement, announceGrants, wakeWorkers });
  const admit = createAdmission({ writer, telemetry: deps.telemetry });
  const calls = await startCallsOfAgents(database, nodeId, held, log);
  const runDeps = { ...deps, held, settlement, admit, startAgentCalls: calls.start };
  const reading = { database, notices, linkOf: deps.linkOf };
  const asyncDeps: AsyncDeps = { ...deps, admit, wakeWorkers, reserveSlot: worker.reserveSlot };
  const consumer =
    deps.workerParallel > 0
      ? await queue.consume("predictions", { parallel: 1 }, async ({ passOn }) => {
          await worker.work();
          if (worker.isFull()) passOn();
        })
      : undefined;

  async function untilIdle(milliseconds: number): Promise<void> {
    for (const until = performance.now() + milliseconds; held.size > 0 && performance.now() < until; ) {
      await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
    }
  }

  return {
    run: (request) => runPrediction(runDeps, request),
    chat: (request) => chatWithModel(runDeps, request),
    recallCall: (predictionId) => recallCall({ database, settlement }, predictionId),
    recallChat: (predictionId) => recallChat({ database, settlement }, predictionId),
    mostCost: async ({ manifest }, input) => reservationOf(await termsFor(manifest, input, deps.countTokens)),
    accept: (request) => acceptAsync(asyncDeps, request),
    look: (request) => lookAtLimits(admit, request),
    rate: (request) => readRate(writer.decide, request),
    startIdempotent: (request) => startIdempotent({ database, nodeId, log }, request),
    mayBeRepeat: (request) => mayBeRepeat(database, request),
    awaitEnd: (address, waitMs, signal) => awaitEnd(reading, address, waitMs, signal),
    result: (address, options) => readResult(reading, address, options),
    follow: (address, options) => followPrediction(reading, address, options),
    isOwn: (address) => isOwn(database.sql, address),
    cancel: cancellation.cancel,
    flow: (modelId) => selectFlow(database.sql, modelId),
    underWay: () => held.size,
    async drain(milliseconds) {
      notices.release();
      await worker.stop();
      await consumer?.stop();
      await untilIdle(milliseconds);
      await worker
        .handBack()
        .catch((error) =>
          log.warn({ err: error }, "Running jobs could not be handed back, others will miss them soon"),
        );
      held.stopAll("shutdown");
      await untilIdle(lastWritesMs);
    },
    async close() {
      await sweeper.stop();
      await flow.stop();
      await Promise.all([calls.stop(), grants.stop(), cancellation.stop(), followers.stop(), notices.stop()]);
    },
  };
}
