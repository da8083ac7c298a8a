import { setTimeout } from "node:timers/promises";
import type { RunTrace } from "@gantry/wire";
import type { Database } from "../../engines/database/database.ts";
import type { Queue } from "../../engines/queue/queue.ts";
import { repeat } from "../../kernel/repeat.ts";
import type { Caller, Page } from "../accounts/index.ts";
import type { Nodes } from "../nodes/index.ts";
import { cancelRun, cancelSomeRunsOf, endDescendants } from "./cancel-run.ts";
import {
  answerConfirmation,
  type Confirmation,
  expireConfirmations,
  type InboxEntry,
  type InboxQuery,
  readConfirmations,
  readInbox,
} from "./confirmations.ts";
import type { RunsContext } from "./context.ts";
import { type ConversationEnd, type ConversationRequest, converse } from "./converse/converse.ts";
import { createChild } from "./create-child.ts";
import { type CreatedRun, type CreateRunRequest, createRun } from "./create-run.ts";
import {
  exportRuns,
  type ListRunsQuery,
  listOwnRuns,
  listRunsOfAgent,
  readOwnRun,
  readRun,
  type SeenRun,
  type ShownRun,
  showRuns,
} from "./read-runs.ts";
import { isAsking, type Run, type RunEvent } from "./run.ts";
import { type FollowedEvent, startRunFeed } from "./run-feed.ts";
import { startRunTexts } from "./run-texts.ts";
import { type RunForWebhook, readForWebhook } from "./run-webhook.ts";
import { createRunWriter } from "./run-writer.ts";
import { dropExpiredSecrets, fetchSecret } from "./secrets.ts";
import {
  cancelChannel,
  hasUnclaimedRun,
  listClaims,
  listDeadNodes,
  listEvents,
  releaseRun,
  releaseRunsOf,
} from "./store.ts";
import type { TextPiece } from "./text-pieces.rules.ts";
import { readTrace } from "./trace/read-trace.ts";
import { readTraceStep, type StepDetail } from "./trace/read-trace-step.ts";
import { createRunWorker, type RunWorkerDeps } from "./work-on-runs.ts";

export interface RunsDeps
  extends Omit<
      RunsContext,
      "feed" | "texts" | "write" | "wakeWorkers" | "agents" | "models" | "predictions" | "schemas"
    >,
    Omit<
      RunWorkerDeps,
      "write" | "texts" | "wakeWorkers" | "createChild" | "endDescendants" | "database" | "predictions" | "agents"
    > {
  database: Database;
  queue: Queue;
  nodes: Nodes;
  agents: RunsContext["agents"] & RunWorkerDeps["agents"];
  predictions: RunsContext["predictions"] & RunWorkerDeps["predictions"];
}

export interface Runs {
  create(request: CreateRunRequest): Promise<CreatedRun>;
  /** Answers a conversation with an agent: a run whose text streams. Rejects with a fault if the run has no output. */
  converse(request: ConversationRequest): Promise<ConversationEnd>;
  read(caller: Caller, id: string): Promise<SeenRun>;
  /** Adds agents and times, in a fixed number of queries. */
  show(caller: Caller, seen: readonly SeenRun[]): Promise<ShownRun[]>;
  listOfAgent(caller: Caller, agentId: string, query: ListRunsQuery): Promise<Page<SeenRun>>;
  listOwn(caller: Caller, query: ListRunsQuery): Promise<Page<SeenRun>>;
  /** All runs of the caller with its descendants. */
  export(caller: Caller): AsyncGenerator<ShownRun>;
  /** Resolves when the run ends, after the time, or when this node shuts down. */
  awaitEnd(run: Run, milliseconds: number, signal?: AbortSignal, options?: { orAsking?: boolean }): Promise<Run>;
  cancel(caller: Caller, id: string): Promise<Run>;
  /** For an account that is being deleted. */
  cancelSomeOf(userId: string): Promise<void>;
  /** Only for the caller of the run. */
  readOwn(caller: Caller, id: string): Promise<Run>;
  follow(run: Run, after: number, signal: AbortSignal): AsyncGenerator<readonly FollowedEvent[]>;
  /** Text of model calls as it is written. Returns a function that ends it. */
  followText(run: Run, onPiece: (piece: TextPiece) => void): () => void;
  /** Only for the caller of the run. */
  trace(caller: Caller, runId: string): Promise<RunTrace>;
  traceStep(caller: Caller, runId: string, stepId: string): Promise<StepDetail>;
  listEvents(run: Run, after: number, limit: number): Promise<RunEvent[]>;
  confirmations(caller: Caller, runId: string): Promise<Confirmation[]>;
  /** Of all runs of the caller. */
  inbox(caller: Caller, query: InboxQuery): Promise<Page<InboxEntry>>;
  answer(caller: Caller, runId: string, confirmationId: string, body: unknown): Promise<Confirmation>;
  fetchSecret(caller: Caller, runId: string, secretId: string): Promise<{ id: string; field: string; value: string }>;
  /** For the body of a webhook; undefined if the run does not exist any more. */
  readForWebhook(runId: string, confirmationId: string): Promise<RunForWebhook | undefined>;
  underWay(): number;
  /** Releases readers at once. Runs stop after their current step, or immediately after the time. */
  drain(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

const sweepEveryMs = 2_000;
const pollMs = 20;
const lastWritesMs = 5_000;
/** A claim whose response was lost is released after this many sweeps. */
const maxUnknownPasses = 2;

export async function openRuns(deps: RunsDeps): Promise<Runs> {
  const { database, queue, log, telemetry, nodeId } = deps;
  const { sql } = database;
  const wakeWorkers = () => void queue.wake("runs");
  const write = createRunWriter({ database, log, telemetry, wakeWorkers, underWay: () => worker.underWay() });
  const feed = await startRunFeed(database, log);
  const texts = await startRunTexts(database, log);
  const context: RunsContext = { ...deps, feed, texts, write, wakeWorkers };
  const worker = createRunWorker({
    ...deps,
    write,
    texts,
    wakeWorkers,
    createChild: (parent, call, wanted) => createChild(context, parent, call, wanted),
    endDescendants: (run) => endDescendants(context, run),
  });
  const isWorker = deps.parallel > 0;
  const consumer = isWorker
    ? await queue.consume("runs", { parallel: 1 }, async ({ passOn }) => {
        await worker.work();
        if (worker.isFull()) passOn();
      })
    : undefined;
  const cancels = await database.listen(cancelChannel, (id) => worker.stopRun(id, "cancelled"));

  const unknownPasses = new Map<string, number>();
  async function sweep(): Promise<void> {
    await expireConfirmations(context);
    await dropExpiredSecrets(sql);
    const unknown = await worker.compare(() => listClaims(sql, nodeId));
    for (const id of unknownPasses.keys()) if (!unknown.some((run) => run.id === id)) unknownPasses.delete(id);
    for (const run of unknown) {
      const passes = (unknownPasses.get(run.id) ?? 0) + 1;
      unknownPasses.set(run.id, passes);
      if (passes < maxUnknownPasses) continue;
      log.warn({ run_id: run.id }, "released a run that this node does not work on");
      await releaseRun(sql, run, run.wasTried);
    }
    // Runs beyond the limit of a plan stay ready, so no wake-up is sent to other nodes.
    if (isWorker && (await hasUnclaimedRun(sql))) await worker.work();
  }
  const sweeping = repeat(sweep, sweepEveryMs, (error) => log.warn({ err: error }, "sweep of runs failed"));

  const deadNodes = await deps.nodes.onDead(async (gone) => {
    for (const deadNode of await listDeadNodes(sql, gone)) {
      const count = await releaseRunsOf(sql, deadNode);
      if (count === 0) continue;
      log.warn({ runs: count }, "released the runs of a dead node");
      wakeWorkers();
    }
  });

  /** Clients that wait for an answer, also of a run on another node. */
  let conversations = 0;

  async function untilIdle(milliseconds: number): Promise<void> {
    const isIdle = () => worker.underWay() + conversations === 0;
    for (const until = performance.now() + milliseconds; !isIdle() && performance.now() < until; ) {
      await setTimeout(pollMs);
    }
  }

  return {
    create: (request) => createRun(context, request),
    async converse(request) {
      conversations++;
      try {
        return await converse(context, request);
      } finally {
        conversations--;
      }
    },
    read: (caller, id) => readRun(context, caller, id),
    show: (caller, seen) => showRuns(context, caller, seen),
    readOwn: (caller, id) => readOwnRun(context, caller, id),
    listOfAgent: (caller, agentId, query) => listRunsOfAgent(context, caller, agentId, query),
    listOwn: (caller, query) => listOwnRuns(context, caller, query),
    export: (caller) => exportRuns(context, caller),
    async awaitEnd(run, milliseconds, signal, { orAsking = false } = {}) {
      if (milliseconds <= 0 || run.completedAt !== null || (orAsking && isAsking(run))) return run;
      return (await feed.untilEnded(run.id, milliseconds, { signal, seenLive: true, isReader: true, orAsking })) ?? run;
    },
    cancel: (caller, id) => cancelRun(context, caller, id),
    cancelSomeOf: (userId) => cancelSomeRunsOf(context, userId),
    follow: (run, after, signal) => feed.follow(run, after, signal),
    listEvents: (run, after, limit) => listEvents(sql, run.id, after, limit),
    followText: (run, onPiece) => texts.follow(run.id, onPiece),
    trace: (caller, runId) => readTrace(context, caller, runId),
    traceStep: (caller, runId, stepId) => readTraceStep(context, caller, runId, stepId),
    confirmations: (caller, runId) => readConfirmations(context, caller, runId),
    inbox: (caller, query) => readInbox(context, caller, query),
    answer: (caller, runId, confirmationId, body) => answerConfirmation(context, caller, runId, confirmationId, body),
    fetchSecret: (caller, runId, secretId) => fetchSecret(context, caller, runId, secretId),
    readForWebhook: (runId, confirmationId) => readForWebhook(context, runId, confirmationId),
    underWay: worker.underWay,
    async drain(milliseconds) {
      feed.release();
      await worker.stop();
      await consumer?.stop();
      await untilIdle(milliseconds);
      worker.handBack();
      feed.release({ all: true });
      await untilIdle(lastWritesMs);
      wakeWorkers();
    },
    async close() {
      await Promise.all([deadNodes.stop(), sweeping.stop()]);
      await cancels.stop();
      await texts.close();
      await feed.close();
    },
  };
}
