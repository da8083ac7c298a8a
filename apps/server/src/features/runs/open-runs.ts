import type { Database } from "../../engines/database/database.ts";
import type { Queue } from "../../engines/queue/queue.ts";
import type { Caller, Page } from "../accounts/index.ts";
import type { Nodes } from "../nodes/index.ts";
import { cancelRun, endDescendants } from "./cancel-run.ts";
import { answerConfirmation, type Confirmation, expireConfirmations, readConfirmations } from "./confirmations.ts";
import type { RunsContext } from "./context.ts";
import { createChild } from "./create-child.ts";
import { type CreatedRun, type CreateRunRequest, createRun } from "./create-run.ts";
import { type ListRunsQuery, listOwnRuns, listRunsOfAgent, readOwnRun, readRun, type SeenRun } from "./read-runs.ts";
import { isAsking, type Run, type RunEvent } from "./run.ts";
import { type FollowedEvent, startRunNews } from "./run-feed.ts";
import { createRunWriter } from "./run-writer.ts";
import { dropExpiredSecrets, fetchSecret } from "./secrets.ts";
import {
  cancelChannel,
  isAnyReady,
  listDeadHolders,
  listEvents,
  listHeld,
  releaseRun,
  releaseRunsOf,
} from "./store.ts";
import { createRunWorker, type RunWorkerDeps } from "./work-on-runs.ts";

export interface RunsDeps
  extends Omit<RunsContext, "news" | "write" | "wakeWorkers" | "agents" | "models" | "predictions" | "schemas">,
    Omit<
      RunWorkerDeps,
      "write" | "wakeWorkers" | "createChild" | "endDescendants" | "database" | "predictions" | "agents"
    > {
  database: Database;
  queue: Queue;
  nodes: Nodes;
  agents: RunsContext["agents"] & RunWorkerDeps["agents"];
  predictions: RunsContext["predictions"] & RunWorkerDeps["predictions"];
}

/** The feature as the rest of the server sees it. Each use case is described in its own file. */
export interface Runs {
  create(request: CreateRunRequest): Promise<CreatedRun>;
  read(caller: Caller, id: string): Promise<SeenRun>;
  listOfAgent(caller: Caller, agentId: string, query: ListRunsQuery): Promise<Page<SeenRun>>;
  listOwn(caller: Caller, query: ListRunsQuery): Promise<Page<SeenRun>>;
  /** The run when it has ended, or as it is after the time or when this node goes down. */
  awaitEnd(run: Run, milliseconds: number, signal?: AbortSignal, options?: { orAsking?: boolean }): Promise<Run>;
  cancel(caller: Caller, id: string): Promise<Run>;
  /** The run of which the caller may see everything. */
  readOwn(caller: Caller, id: string): Promise<Run>;
  follow(run: Run, after: number, signal: AbortSignal): AsyncGenerator<readonly FollowedEvent[]>;
  listEvents(run: Run, after: number, limit: number): Promise<RunEvent[]>;
  confirmations(caller: Caller, runId: string): Promise<Confirmation[]>;
  answer(caller: Caller, runId: string, confirmationId: string, body: unknown): Promise<Confirmation>;
  fetchSecret(caller: Caller, runId: string, secretId: string): Promise<{ id: string; field: string; value: string }>;
  underWay(): number;
  /** Readers are let go at once. Runs under way are left at their next step, after the time where they are. */
  drain(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

const sweepEveryMs = 2_000;
const lookAgainMs = 20;
const lastWritesMs = 5_000;
/** A claim whose answer was lost is given up after it was seen twice without being worked on. */
const passesUnknown = 2;

export async function openRuns(deps: RunsDeps): Promise<Runs> {
  const { database, queue, log, telemetry, nodeId } = deps;
  const { sql } = database;
  const wakeWorkers = () => void queue.wake("runs");
  const write = createRunWriter({ database, log, telemetry, wakeWorkers, underWay: () => worker.underWay() });
  const news = await startRunNews(database, log);
  const context: RunsContext = { ...deps, news, write, wakeWorkers };
  const worker = createRunWorker({
    ...deps,
    write,
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

  const unknown = new Map<string, number>();
  async function sweep(): Promise<void> {
    await expireConfirmations(context);
    await dropExpiredSecrets(sql);
    const strange = await worker.compare(() => listHeld(sql, nodeId));
    for (const id of unknown.keys()) if (!strange.some((run) => run.id === id)) unknown.delete(id);
    for (const run of strange) {
      const passes = (unknown.get(run.id) ?? 0) + 1;
      unknown.set(run.id, passes);
      if (passes < passesUnknown) continue;
      log.warn({ run_id: run.id }, "Giving up a run that nobody works on");
      await releaseRun(sql, run, run.wasTried);
    }
    // Runs above their user's plan stay ready for as long as that takes, so each worker looks for itself alone.
    if (isWorker && (await isAnyReady(sql))) await worker.work();
  }
  let sweeping: Promise<void> | undefined;
  const timer = setInterval(() => {
    sweeping ??= sweep()
      .catch((error) => log.warn({ err: error }, "A sweep over runs failed, the next one tries again"))
      .finally(() => {
        sweeping = undefined;
      });
  }, sweepEveryMs);

  const takingOver = await deps.nodes.onDead(async (gone) => {
    for (const holder of await listDeadHolders(sql, gone)) {
      const count = await releaseRunsOf(sql, holder);
      if (count === 0) continue;
      log.warn({ runs: count }, "ClaimLoop over the runs of a dead worker");
      wakeWorkers();
    }
  });

  async function untilIdle(milliseconds: number): Promise<void> {
    for (const until = performance.now() + milliseconds; worker.underWay() > 0 && performance.now() < until; ) {
      await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
    }
  }

  return {
    create: (request) => createRun(context, request),
    read: (caller, id) => readRun(context, caller, id),
    readOwn: (caller, id) => readOwnRun(context, caller, id),
    listOfAgent: (caller, agentId, query) => listRunsOfAgent(context, caller, agentId, query),
    listOwn: (caller, query) => listOwnRuns(context, caller, query),
    async awaitEnd(run, milliseconds, signal, { orAsking = false } = {}) {
      if (milliseconds <= 0 || run.completedAt !== null || (orAsking && isAsking(run))) return run;
      return (await news.untilEnded(run.id, milliseconds, { signal, seenLive: true, isReader: true, orAsking })) ?? run;
    },
    cancel: (caller, id) => cancelRun(context, caller, id),
    follow: (run, after, signal) => news.follow(run, after, signal),
    listEvents: (run, after, limit) => listEvents(sql, run.id, after, limit),
    confirmations: (caller, runId) => readConfirmations(context, caller, runId),
    answer: (caller, runId, confirmationId, body) => answerConfirmation(context, caller, runId, confirmationId, body),
    fetchSecret: (caller, runId, secretId) => fetchSecret(context, caller, runId, secretId),
    underWay: worker.underWay,
    async drain(milliseconds) {
      news.release();
      await worker.stop();
      await consumer?.stop();
      await untilIdle(milliseconds);
      worker.handBack();
      await untilIdle(lastWritesMs);
      wakeWorkers();
    },
    async close() {
      clearInterval(timer);
      await Promise.all([takingOver.stop(), sweeping]);
      await cancels.stop();
      await news.close();
    },
  };
}
