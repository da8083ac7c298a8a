import type { BlobStore } from "../../../engines/blobs/blobs.ts";
import type { Database } from "../../../engines/database/database.ts";
import type { Telemetry } from "../../../engines/telemetry/telemetry.ts";
import { createClaimLoop } from "../../../kernel/claim-loop.ts";
import { Fault, fault } from "../../../kernel/errors.ts";
import type { Log } from "../../../kernel/log.ts";
import { mostTokens } from "../../../kernel/money.ts";
import { Register } from "../../../kernel/register.ts";
import { Ring } from "../../../kernel/ring.ts";
import { sleep } from "../../../kernel/sleep.ts";
import type { Bounds } from "../../billing/index.ts";
import type { Model } from "../../models/index.ts";
import { type ExecutionDeps, executePrediction } from "../execution/execute-prediction.ts";
import { Fragments } from "../execution/fragments.ts";
import type { HeldPredictions } from "../execution/held-predictions.ts";
import { hasFiles, openInput, type UnreadFile } from "../input/stored-input.ts";
import { endedUnused, type Outcome, streamedField } from "../prediction.ts";
import type { Settlement } from "../result/settle-predictions.ts";
import { type ClaimedJob, claimJobs, type FreedSlots, releasePredictions, type SlotReservation } from "../store.ts";
import { createInputWaits } from "./input-waits.ts";

export interface WorkerDeps extends ExecutionDeps {
  database: Database;
  blobs: BlobStore;
  log: Log;
  nodeId: string;
  held: HeldPredictions;
  settlement: Settlement;
  wakeWorkers(): void;
  acceptedModel(id: string, endpointId: string): Promise<Model | undefined>;
  /** Jobs at the same time on this node. */
  parallel: number;
}

export interface Worker {
  /** Takes what there is, up to the node's hands. Resolves when nothing more can be taken for the moment. */
  work(): Promise<void>;
  /** A hand for a prediction that is being accepted here, if one is free: it need not go through the queue. */
  reserveSlot(): SlotReservation | undefined;
  /** The hands of so many jobs that a statement ends, for what it may claim in their place. */
  takeFreedSlots(freed: number): FreedSlots;
  /** No hand is free: another node should look too. */
  isFull(): boolean;
  /** No new jobs; running ones go on. Resolves when what was just being claimed is among them. */
  stop(): Promise<void>;
  /** Puts what still runs back into the queue. */
  handBack(): Promise<void>;
}

const claimedAtOnce = 50;
/** The database holds every charge to its reservation, also where the bounds of a reservation were not stored. */
const unbounded: Bounds = {
  seconds: Number.MAX_SAFE_INTEGER,
  outputs: Number.MAX_SAFE_INTEGER,
  inputTokens: mostTokens,
  outputTokens: mostTokens,
};

/**
 * Runs queued predictions. Every claim is SQL, so any number of workers share the work; a wake-up only says that it is
 * worth a look.
 *
 *   accepted ──────────────┐ started with its acceptance, where a hand is free
 *      ▼                   ▼
 *   queued ──claim──► running ──settle──► ended
 *      ▲                 └─ worker died or hands it back, or its input was not read: claim number + 1
 *      └─────────────────────┘
 */
export function createWorker(deps: WorkerDeps): Worker {
  const running = new Register<ClaimedJob>();
  const inputWaits = createInputWaits(deps);
  /** Running ones that rest until they try to read their input again: they need no hand. */
  let resting = 0;
  const stopping = new AbortController();
  /** Hands that wait for an acceptance. */
  let reserved = 0;
  /** Whatever may yet become a job here. */
  const reservations = new Ring<Promise<void>>();
  const freeSlots = () => deps.parallel - (running.size - resting) - reserved;
  const begin = (job: ClaimedJob) => void deps.telemetry.within(deps.telemetry.resumed(job.trace), () => run(job));
  const taking = createClaimLoop<ClaimedJob>({
    freeSlots,
    atOnce: claimedAtOnce,
    claim: (hands) => claimJobs(deps.database.sql, deps.nodeId, hands),
    begin,
  });
  const lookForMore = () => {
    if (taking.isStopped) return;
    taking.look().catch((error) => deps.log.warn({ err: error }, "ClaimLoop jobs failed, the next look tries again"));
  };

  /** Answers what gives them back. */
  function reserve(hands: number): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const place = reservations.add(promise);
    reserved += hands;
    return () => {
      reserved -= hands;
      place.leave();
      resolve();
    };
  }

  function takeFreedSlots(freed: number): FreedSlots {
    const free = reserve(0);
    return {
      hands: taking.isStopped ? 0 : freed,
      use(jobs) {
        for (const job of jobs) begin(job);
        free();
      },
    };
  }

  function reserveSlot(): SlotReservation | undefined {
    if (taking.isStopped || freeSlots() <= 0) return undefined;
    const free = reserve(1);
    return {
      begin(job) {
        free();
        begin(job);
      },
      giveBack() {
        free();
        // Whoever looked meanwhile saw no free hand.
        lookForMore();
      },
    };
  }

  async function run(job: ClaimedJob): Promise<void> {
    running.set(job.id, job);
    let isPlain = false;
    let unread: UnreadFile | undefined;
    const held = deps.held.hold(job.id);
    held.accepted(job.claim);
    noteWait(deps.telemetry, job);
    try {
      const model = await deps.acceptedModel(job.modelId, job.modelName);
      if (!model) throw new Error(`the model ${job.modelId} of a queued prediction is not there`);
      const field = streamedField(model);
      const fragments = field === undefined ? undefined : new Fragments(deps.database.sql, job, deps.log);
      // Nobody knows where it runs: whoever follows it, now or later, finds all of it written.
      fragments?.publish();
      let outcome = await executePrediction(deps, {
        held,
        userId: job.userId,
        model,
        input: openInput(deps.blobs, job.id, job.input, (file) => {
          unread = file;
        }),
        terms: { pricing: job.pricing, bounds: job.bounds ?? unbounded },
        ...(fragments && { onFragment: (name, text) => fragments.add(name, text) }),
      });
      outcome = fragments?.close(outcome) ?? outcome;
      // A driver may have opened it again; then it is the failure of the call that counts.
      if (unread && isOfOurs(outcome)) {
        const verdict = await inputWaits.judge(job, model, unread, outcome.fault);
        if ("failure" in verdict) outcome = { ...outcome, fault: verdict.failure };
        else {
          outcome = (await stoppedWhileResting(verdict.pauseMs, held.signal)) ?? outcome;
          if (!held.signal.aborted && running.get(job.id) === job) {
            await releasePredictions(deps.database.sql, [job], false);
            deps.wakeWorkers();
            return;
          }
        }
      }
      inputWaits.forget(job.id);
      // Handed back, or claimed anew: another claim runs it.
      if (running.get(job.id) !== job) return;
      if (outcome.kind === "failed" && outcome.fault.status >= 500) {
        const { fault } = outcome;
        deps.log.error({ prediction_id: job.id, err: fault.cause ?? fault }, fault.message);
      }
      isPlain = !job.hasWebhook && fragments === undefined && !hasFiles(job.id, job.input);
      await deps.settlement.settle(job.id, job.claim, outcome, isPlain ? "job" : "more");
    } catch (error) {
      deps.log.error({ prediction_id: job.id, err: error }, "A queued prediction could not be brought to its end here");
      if (!isOfEngine(error)) await giveUp(job);
    } finally {
      held.release();
      if (running.get(job.id) === job) running.delete(job.id);
      // With a row's end the next were claimed already; what takes longer may have let others by.
      if (!isPlain) lookForMore();
    }
  }

  /** What it came to when it was stopped meanwhile. Of a process that goes down another takes it over at once. */
  async function stoppedWhileResting(milliseconds: number, signal: AbortSignal): Promise<Outcome | undefined> {
    resting++;
    lookForMore();
    try {
      await sleep(milliseconds, AbortSignal.any([signal, stopping.signal]));
      return undefined;
    } catch {
      return signal.aborted ? endedUnused(signal.reason as Fault) : undefined;
    } finally {
      resting--;
    }
  }

  /** What went wrong here would go wrong at every other try, and each may call and pay the model. */
  async function giveUp({ id, claim }: ClaimedJob): Promise<void> {
    const failure = fault("internal_server_error", "Internal server error", { retryable: false });
    await deps.settlement
      .settle(id, claim, endedUnused(failure), "more")
      .catch((error) => deps.log.error({ prediction_id: id, err: error }, "A queued prediction could not be given up"));
  }

  return {
    work: taking.look,
    reserveSlot,
    takeFreedSlots,
    isFull: () => freeSlots() <= 0,
    async stop() {
      stopping.abort();
      await taking.stop();
      await Promise.all(reservations.all());
    },
    async handBack() {
      const jobs = running.all();
      for (const { id } of jobs) {
        running.delete(id);
        deps.held.get(id)?.stop("shutdown");
      }
      if (jobs.length === 0) return;
      await releasePredictions(deps.database.sql, jobs, false);
      deps.wakeWorkers();
    },
  };
}

/** It is away for the moment: the sweep puts what nobody runs back into the line. */
function isOfEngine(error: unknown): boolean {
  return error instanceof Fault && error.type === "service_unavailable";
}

function isOfOurs(outcome: Outcome): outcome is Outcome & { kind: "failed" } {
  return outcome.kind === "failed" && outcome.fault.type === "service_unavailable";
}

function noteWait(telemetry: Telemetry, { id, acceptedAt, waitedMs }: ClaimedJob): void {
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
