import { setTimeout as sleep } from "node:timers/promises";
import type { Manifest } from "@gantry/wire";
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
import { openBackends } from "./backends/open-backends.ts";
import { type BackendState, readBackends } from "./backends/read-backends.ts";
import { startCancellation } from "./execution/cancel-prediction.ts";
import {
  type ChatEnd,
  type ChatRequest,
  chatWithModel,
  type RecalledCall,
  recallCall,
  recallChat,
} from "./execution/chat-with-model.ts";
import { type ConverseEnd, type ConverseRequest, converse } from "./execution/converse.ts";
import { type CountRequest, countInput } from "./execution/count-input.ts";
import { type EmbedEnd, type EmbedRequest, embed } from "./execution/embed.ts";
import type { ExecutionDeps } from "./execution/execute-prediction.ts";
import { createLivePredictions } from "./execution/live-predictions.ts";
import { type RunDeps, type RunEnd, type RunRequest, runPrediction } from "./execution/run-prediction.ts";
import { startAgentCalls, startGrantAnnouncements } from "./execution/slot-grants.ts";
import { startSweeper } from "./execution/sweep-predictions.ts";
import {
  type IdempotentRequest,
  type IdempotentStart,
  mayBeRepeat,
  startIdempotent,
} from "./idempotency/idempotency.ts";
import {
  type CheckedInput,
  type ImageRequest,
  type InputDeps,
  type InputRequest,
  imageReader,
  type ReadImage,
  type ReceivedForm,
  readModelInput,
  receiveForm,
} from "./input/index.ts";
import type { StoredOutput } from "./prediction.ts";
import { type AsyncDeps, type AsyncRequest, acceptAsync } from "./queue/accept-async.ts";
import { createWorker } from "./queue/work-on-jobs.ts";
import { followPrediction } from "./result/follow-prediction.ts";
import { followedChannel } from "./result/fragments.ts";
import { startPredictionFeed } from "./result/prediction-feed.ts";
import { awaitEnd, readResult } from "./result/read-result.ts";
import { fileLinks, type LinkOf, type ResultItem } from "./result/result-item.ts";
import { createSettlement } from "./result/settle-predictions.ts";
import {
  type EndedPrediction,
  eraseResult,
  type FlowFigures,
  findState,
  isOwn,
  type PredictionAddress,
  type PredictionState,
  selectFlow,
} from "./store.ts";

export interface PredictionsDeps
  extends Omit<ExecutionDeps, "backends">,
    InputDeps,
    Pick<AsyncDeps, "countTokens" | "sealWebhook">,
    Pick<RunDeps, "estimateTokens"> {
  database: Database;
  blobs: BlobStore;
  queue: Queue;
  clock: Clock;
  log: Log;
  nodeId: string;
  /** Other processes of this server write predictions as well. */
  isOneOfSeveral?: boolean;
  nodes: Nodes;
  linkOf: LinkOf;
  acceptedModel(id: string, endpointId: string): Promise<Model | undefined>;
  /** Queued predictions that this node runs at once; 0 if it is not a worker. */
  workerParallel: number;
}

interface Reading {
  base: string;
  signal: AbortSignal;
}

export interface Predictions {
  /** Checks the form of a request and fetches its files. Rejects with one fault that has all issues. */
  readInput(request: InputRequest): Promise<CheckedInput>;
  /** Receives the form of a request that may be a repeat, without checking it. */
  receiveForm(
    request: Omit<InputRequest, "caller" | "model"> & {
      model: { manifest: Pick<Manifest, "input"> };
      mayBeRepeat(): Promise<boolean>;
    },
  ): Promise<ReceivedForm>;
  /** Reads the images of one request of a chat protocol. */
  imageReader(request: ImageRequest): ReadImage;
  /** Runs a prediction whose client is connected here. */
  run(request: RunRequest): Promise<RunEnd>;
  /** Calls a text model for a run. Rejects if the call was not admitted. */
  chat(request: ChatRequest): Promise<ChatEnd>;
  /** Asks a text model for a client of a chat protocol. */
  converse(request: ConverseRequest): Promise<ConverseEnd>;
  /** The input tokens of a request to a chat protocol. No prediction and no charge. */
  countInput(request: CountRequest): Promise<number>;
  /** Asks a model of kind `embedding` for vectors. */
  embed(request: EmbedRequest): Promise<EmbedEnd>;
  recallChat(predictionId: string): Promise<ChatEnd | undefined>;
  recallCall(predictionId: string): Promise<RecalledCall | undefined>;
  /** The amount that a prediction of this input would reserve. */
  mostCost(model: Model, input: Readonly<Record<string, InputValue>>): Promise<Micros>;
  accept(request: AsyncRequest): Promise<{ predictionId: string; rate: RateFigures | undefined }>;
  /** Rejects as admission would: key, model, funds, limits. */
  look(request: LookRequest): Promise<RateFigures | undefined>;
  /** Reads the plan's limit without counting a request. Never rejects for a limit. */
  rate(request: Omit<LookRequest, "counts">): Promise<RateFigures | undefined>;
  startIdempotent(request: IdempotentRequest): Promise<IdempotentStart>;
  /** Whether the key has a first request, whose answer a repeat receives. */
  mayBeRepeat(request: Pick<IdempotentRequest, keyof Scope | "modelName" | "key">): Promise<boolean>;
  /** Undefined if the prediction is still live after the time, or if this node shuts down. */
  awaitEnd(address: PredictionAddress, waitMs: number, signal: AbortSignal): Promise<EndedPrediction | undefined>;
  result(address: PredictionAddress, options: Reading & { waitMs: number }): Promise<ResultItem>;
  follow(address: PredictionAddress, options: Reading): AsyncGenerator<Record<string, unknown>>;
  isOwn(address: PredictionAddress): Promise<boolean>;
  /** Undefined if it was never accepted, or its result was deleted. */
  state(address: PredictionAddress): Promise<PredictionState | undefined>;
  /** Deletes what an ended prediction said. */
  erase(address: Omit<PredictionAddress, "modelName">): Promise<void>;
  cancel(address: PredictionAddress): Promise<number>;
  /** Download links of the files among a prediction's outputs, by field. */
  linksOf(predictionId: string, output: StoredOutput, base: string): Promise<Record<string, unknown>>;
  flow(modelId: string): Promise<FlowFigures>;
  /** The backends of a model with their state, in the order of the manifest. */
  backends(model: Model): Promise<BackendState[]>;
  underWay(): number;
  /**
   * Lets running predictions end within the time. The rest returns to the queue, or fails with an error of the server if a
   * client is connected. Requests that wait for a result are answered at once.
   */
  drain(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

const pollMs = 20;
/** If the database stays away longer, the next start ends the remaining predictions. */
const lastWritesMs = 5_000;

export async function openPredictions(given: PredictionsDeps): Promise<Predictions> {
  const { database, log, nodeId, nodes, queue, linkOf } = given;
  const backends = await openBackends(given);
  const deps = { ...given, backends };
  const live = createLivePredictions();
  const wakeWorkers = () => void queue.wake("predictions");
  const grants = await startGrantAnnouncements(database, nodeId, live);
  const feed = await startPredictionFeed(database);
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
  const worker = createWorker({ ...deps, live, settlement, wakeWorkers, parallel: deps.workerParallel });
  const cancellation = await startCancellation({ database, nodeId, nodes, live, settlement });
  const followers = await database.listen(followedChannel, (id) => live.get(id)?.follow());
  const sweeper = await startSweeper({ database, log, nodeId, nodes, live, settlement, announceGrants, wakeWorkers });
  const admit = createAdmission({ writer, telemetry: deps.telemetry });
  const calls = await startAgentCalls(database, nodeId, live, log);
  const runDeps = { ...deps, live, settlement, admit, startAgentCalls: calls.start };
  const reading = { database, feed, linkOf };
  const asyncDeps: AsyncDeps = { ...deps, admit, wakeWorkers, reserveSlot: worker.reserveSlot };
  const consumer =
    deps.workerParallel > 0
      ? await queue.consume("predictions", { parallel: 1 }, async ({ passOn }) => {
          await worker.work();
          if (worker.isFull()) passOn();
        })
      : undefined;

  async function untilIdle(milliseconds: number): Promise<void> {
    for (const until = performance.now() + milliseconds; live.size > 0 && performance.now() < until; ) {
      await sleep(pollMs);
    }
  }

  return {
    readInput: (request) => readModelInput(deps, request),
    receiveForm: ({ model, readForm, extras, mayBeRepeat, signal }) =>
      receiveForm({ manifest: model.manifest, form: readForm, spoolDir: deps.spoolDir, extras, mayBeRepeat, signal }),
    imageReader: (request) => imageReader(deps, request),
    run: (request) => runPrediction(runDeps, request),
    chat: (request) => chatWithModel(runDeps, request),
    converse: (request) => converse(runDeps, request),
    countInput: (request) => countInput(runDeps, request),
    embed: (request) => embed(runDeps, request),
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
    state: (address) => findState(database.sql, address),
    erase: (address) => eraseResult(database.sql, address),
    cancel: cancellation.cancel,
    linksOf: (predictionId, output, base) => fileLinks(predictionId, output, base, linkOf),
    flow: (modelId) => selectFlow(database.sql, modelId),
    backends: (model) => readBackends(database.sql, model),
    underWay: () => live.size,
    async drain(milliseconds) {
      feed.release();
      await worker.stop();
      await consumer?.stop();
      await untilIdle(milliseconds);
      await worker
        .releaseAll()
        .catch((error) =>
          log.warn({ err: error }, "Running jobs could not return to the queue; other nodes will take them over"),
        );
      live.stopAll("shutdown");
      await untilIdle(lastWritesMs);
    },
    async close() {
      await sweeper.stop();
      await flow.stop();
      await backends.stop();
      await Promise.all([calls.stop(), grants.stop(), cancellation.stop(), followers.stop(), feed.stop()]);
    },
  };
}
