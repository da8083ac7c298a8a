import type { BlobStore } from "../../../engines/blobs/blobs.ts";
import type { Database } from "../../../engines/database/database.ts";
import type { Telemetry } from "../../../engines/telemetry/telemetry.ts";
import { createClaimLoop } from "../../../kernel/claim-loop.ts";
import { type Fault, fault, isUnavailable } from "../../../kernel/errors.ts";
import type { Log } from "../../../kernel/log.ts";
import { mostTokens } from "../../../kernel/money.ts";
import { Register } from "../../../kernel/register.ts";
import { Ring } from "../../../kernel/ring.ts";
import { sleep } from "../../../kernel/sleep.ts";
import type { Bounds, Prices } from "../../billing/index.ts";
import type { Model } from "../../models/index.ts";
import { type Execution, type ExecutionDeps, executePrediction } from "../execution/execute-prediction.ts";
import type { LivePredictions } from "../execution/live-predictions.ts";
import { hasFiles, openInput, type UnreadFile } from "../input/stored-input.ts";
import { keptFields } from "../kept/kept-input.rules.ts";
import {
  type ClaimedJob,
  endedUnused,
  type FreedSlots,
  type Outcome,
  type SlotReservation,
  streamedField,
} from "../prediction.ts";
import { Fragments } from "../result/fragments.ts";
import type { Settlement } from "../result/settle-predictions.ts";
import { claimJobs, releaseJobs } from "../store.ts";
import { createInputWaits } from "./input-waits.ts";
import { chatOfJob } from "./queued-chat.ts";
import { embeddingOfJob } from "./queued-embedding.ts";

export interface WorkerDeps extends ExecutionDeps {
  database: Database;
  blobs: BlobStore;
  log: Log;
  nodeId: string;
  live: LivePredictions;
  settlement: Settlement;
  wakeWorkers(): void;
  acceptedModel(id: string, endpointId: string): Promise<Model | undefined>;
  /** Jobs at the same time on this node. */
  parallel: number;
}

export interface Worker {
  /** Claims jobs until no slot is free or no job waits. */
  work(): Promise<void>;
  /** A free slot for a prediction that is being accepted here, so that it skips the queue. */
  reserveSlot(): SlotReservation | undefined;
  /** The slots of jobs that a statement ends, to be filled by the jobs it claims. */
  takeFreedSlots(freed: number): FreedSlots;
  /** No slot is free: another node should claim too. */
  isFull(): boolean;
  /** Claims no more jobs; running ones go on. Resolves when claims in progress have begun. */
  stop(): Promise<void>;
  /** Returns running jobs to the queue. */
  releaseAll(): Promise<void>;
}

const claimedAtOnce = 50;
/** The input as it is kept, for the span of the call. */
function contentOf({ bounds }: ClaimedJob, input: Parameters<typeof keptFields>[0]): Pick<Execution, "content"> {
  return bounds?.request?.keeps ? { content: () => bounds.kept ?? keptFields(input) } : {};
}

/** For jobs without stored bounds. The database limits every charge to its reservation. */
const unbounded: Bounds = {
  seconds: Number.MAX_SAFE_INTEGER,
  outputs: Number.MAX_SAFE_INTEGER,
  inputTokens: mostTokens,
  outputTokens: mostTokens,
};

/**
 * Runs queued predictions. Every claim is SQL, so any number of workers share the work. A wake-up is only a hint.
 *
 *   accepted ──────────────┐ started with its acceptance, if a slot is free
 *      ▼                   ▼
 *   queued ──claim──► running ──settle──► ended
 *      ▲                 └─ worker died or released it, or its input was not read: claim number + 1
 *      └─────────────────────┘
 */
export function createWorker(deps: WorkerDeps): Worker {
  const running = new Register<ClaimedJob>();
  const inputWaits = createInputWaits(deps);
  /** Running jobs that pause before they read their input again. They use no slot. */
  let pausing = 0;
  const stopping = new AbortController();
  /** Slots reserved for predictions that are being accepted. */
  let reserved = 0;
  /** Reservations that may yet become jobs. */
  const reservations = new Ring<Promise<void>>();
  const freeSlots = () => deps.parallel - (running.size - pausing) - reserved;
  const begin = (job: ClaimedJob) => void deps.telemetry.within(deps.telemetry.resumed(job.trace), () => run(job));
  const claiming = createClaimLoop<ClaimedJob>({
    freeSlots,
    atOnce: claimedAtOnce,
    claim: (slots) => claimJobs(deps.database.sql, deps.nodeId, slots),
    begin,
  });
  const lookForMore = () => {
    if (claiming.isStopped) return;
    claiming
      .look()
      .catch((error) =>
        deps.log.warn({ err: error }, "Claiming queued predictions failed; the next attempt tries again"),
      );
  };

  /** Returns a function that frees the slots. */
  function reserve(slots: number): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const entry = reservations.add(promise);
    reserved += slots;
    return () => {
      reserved -= slots;
      entry.leave();
      resolve();
    };
  }

  function takeFreedSlots(freed: number): FreedSlots {
    const free = reserve(0);
    return {
      slots: claiming.isStopped ? 0 : freed,
      use(jobs) {
        for (const job of jobs) begin(job);
        free();
      },
    };
  }

  function reserveSlot(): SlotReservation | undefined {
    if (claiming.isStopped || freeSlots() <= 0) return undefined;
    const free = reserve(1);
    return {
      begin(job) {
        free();
        begin(job);
      },
      giveBack() {
        free();
        // Claims made in the meantime saw no free slot.
        lookForMore();
      },
    };
  }

  async function run(job: ClaimedJob): Promise<void> {
    running.set(job.id, job);
    let isPlain = false;
    let unread: UnreadFile | undefined;
    const live = deps.live.add(job.id);
    live.accepted(job.claim);
    recordWait(deps.telemetry, job);
    try {
      const model = await deps.acceptedModel(job.modelId, job.modelName);
      if (!model) throw new Error(`the model ${job.modelId} of a queued prediction does not exist`);
      const field = streamedField(model);
      const fragments = field === undefined ? undefined : new Fragments(deps.database.sql, job, deps.log);
      // Followers do not know where it runs, so the whole transcript is written.
      fragments?.publish();
      const input = openInput(deps.blobs, job.id, job.input, (file) => {
        unread = file;
      });
      const terms = { ...pricesOfJob(job), bounds: job.bounds ?? unbounded };
      let outcome = await executePrediction(deps, {
        live,
        userId: job.userId,
        model,
        input,
        ...chatOfJob(model, input),
        ...embeddingOfJob(input, terms),
        ...(deps.telemetry.capturesContent && contentOf(job, input)),
        terms,
        ...(fragments && { onFragment: (name, text) => fragments.add(name, text) }),
      });
      outcome = fragments?.close(outcome) ?? outcome;
      // If the driver opened the file again, the failure of the call counts.
      if (unread && hasUnavailableEngine(outcome)) {
        const verdict = await inputWaits.judge(job, model, unread, outcome.fault);
        if ("failure" in verdict) outcome = { ...outcome, fault: verdict.failure };
        else {
          outcome = (await stoppedDuringPause(verdict.pauseMs, live.signal)) ?? outcome;
          if (!live.signal.aborted && running.get(job.id) === job) {
            await releaseJobs(deps.database.sql, [job], false);
            deps.wakeWorkers();
            return;
          }
        }
      }
      inputWaits.forget(job.id);
      // Released, or claimed again: another claim runs it.
      if (running.get(job.id) !== job) return;
      if (outcome.kind === "failed" && outcome.fault.status >= 500) {
        const { fault } = outcome;
        deps.log.error({ prediction_id: job.id, err: fault.cause ?? fault }, fault.message);
      }
      isPlain = !job.hasWebhook && fragments === undefined && !hasFiles(job.id, job.input);
      await deps.settlement.settle(job.id, job.claim, outcome, isPlain ? "job" : "more");
    } catch (error) {
      deps.log.error({ prediction_id: job.id, err: error }, "A queued prediction could not be completed on this node");
      // If an engine is unavailable, the sweep returns the job to the queue.
      if (!isUnavailable(error)) await giveUp(job);
    } finally {
      live.release();
      if (running.get(job.id) === job) running.delete(job.id);
      // The end of a plain row claims the next jobs in its own statement.
      if (!isPlain) lookForMore();
    }
  }

  /** The outcome if the job is stopped during the pause. A shutdown ends the pause, so that another node takes over. */
  async function stoppedDuringPause(milliseconds: number, signal: AbortSignal): Promise<Outcome | undefined> {
    pausing++;
    lookForMore();
    try {
      await sleep(milliseconds, AbortSignal.any([signal, stopping.signal]));
      return undefined;
    } catch {
      return signal.aborted ? endedUnused(signal.reason as Fault) : undefined;
    } finally {
      pausing--;
    }
  }

  /** The error would repeat on every attempt, and each attempt may pay the model. */
  async function giveUp({ id, claim }: ClaimedJob): Promise<void> {
    const failure = fault("internal_server_error", "Internal server error", { retryable: false });
    await deps.settlement
      .settle(id, claim, endedUnused(failure), "more")
      .catch((error) => deps.log.error({ prediction_id: id, err: error }, "A queued prediction could not be ended"));
  }

  return {
    work: claiming.look,
    reserveSlot,
    takeFreedSlots,
    isFull: () => freeSlots() <= 0,
    async stop() {
      stopping.abort();
      await claiming.stop();
      await Promise.all(reservations.all());
    },
    async releaseAll() {
      const jobs = running.all();
      for (const { id } of jobs) {
        running.delete(id);
        deps.live.get(id)?.stop("shutdown");
      }
      if (jobs.length === 0) return;
      await releaseJobs(deps.database.sql, jobs, false);
      deps.wakeWorkers();
    },
  };
}

function pricesOfJob({ pricing: stored }: ClaimedJob): Prices {
  if (!stored.backends) return { pricing: stored };
  const { backends, ...pricing } = stored;
  return { pricing, backends };
}

function hasUnavailableEngine(outcome: Outcome): outcome is Outcome & { kind: "failed" } {
  return outcome.kind === "failed" && isUnavailable(outcome.fault);
}

function recordWait(telemetry: Telemetry, { id, acceptedAt, waitedMs }: ClaimedJob): void {
  telemetry.concerns(id, "async");
  telemetry.slotAwaited("async", waitedMs);
  const from = Date.parse(acceptedAt);
  telemetry.past(() => ({
    name: "queue",
    kind: "consumer",
    attributes: { "gantry.prediction_id": id },
    from,
    until: from + waitedMs,
  }));
}
