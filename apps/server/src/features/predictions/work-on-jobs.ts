import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database } from "../../engines/database/database.ts";
import type { Telemetry } from "../../engines/telemetry/telemetry.ts";
import type { Log } from "../../kernel/log.ts";
import { createTaking } from "../../kernel/taking.ts";
import type { Model } from "../models/index.ts";
import { type ExecutionDeps, executePrediction } from "./execute-prediction.ts";
import { recordFragments } from "./fragments.ts";
import type { HeldPredictions } from "./held-predictions.ts";
import { streamedField } from "./prediction.ts";
import { openInput } from "./queued-input.ts";
import type { Settlement } from "./settle-predictions.ts";
import { type ClaimedJob, claimJobs, releasePredictions } from "./store.ts";

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
  /** No hand is free: another node should look too. */
  isFull(): boolean;
  /** No new jobs; running ones go on. Resolves when what was just being claimed is among them. */
  stop(): Promise<void>;
  /** Puts what still runs back into the queue. */
  handBack(): Promise<void>;
}

const claimedAtOnce = 50;

/**
 * Runs queued predictions. Every claim is SQL, so any number of workers share the work; a wake-up only says that it is
 * worth a look.
 *
 *   queued ──claim──► running ──settle──► ended
 *      ▲                 └─ worker died or hands it back: claim number + 1
 *      └─────────────────────┘
 */
export function createWorker(deps: WorkerDeps): Worker {
  const running = new Map<string, ClaimedJob>();
  const taking = createTaking<ClaimedJob>({
    freeHands: () => deps.parallel - running.size,
    atOnce: claimedAtOnce,
    claim: (hands) => claimJobs(deps.database.sql, deps.nodeId, hands),
    begin: (job) => void deps.telemetry.within(deps.telemetry.resumed(job.trace), () => run(job)),
  });

  async function run(job: ClaimedJob): Promise<void> {
    running.set(job.id, job);
    const held = deps.held.hold(job.id);
    held.accepted(job.claim);
    noteWait(deps.telemetry, job);
    try {
      const model = await deps.acceptedModel(job.modelId, job.modelName);
      if (!model) throw new Error(`the model ${job.modelId} of a queued prediction is not there`);
      const field = streamedField(model);
      const fragments = field === undefined ? undefined : recordFragments(deps.database.sql, job, deps.log);
      const outcome = await executePrediction(deps, {
        held,
        userId: job.userId,
        model,
        input: openInput(deps.blobs, job.id, job.input),
        pricing: job.pricing,
        ...(fragments && { onFragment: fragments.add }),
      });
      await fragments?.stop();
      // Handed back, or claimed anew: another claim runs it.
      if (running.get(job.id) !== job) return;
      await deps.settlement.settle(job.id, job.claim, outcome, true);
    } catch (error) {
      deps.log.error({ prediction_id: job.id, err: error }, "A queued prediction could not be brought to its end here");
    } finally {
      held.release();
      if (running.get(job.id) === job) running.delete(job.id);
      if (!taking.isStopped) {
        taking.look().catch((error) => deps.log.warn({ err: error }, "Taking jobs failed, the next look tries again"));
      }
    }
  }

  return {
    work: taking.look,
    isFull: () => running.size >= deps.parallel,
    stop: taking.stop,
    async handBack() {
      const jobs = [...running.values()];
      running.clear();
      for (const job of jobs) deps.held.get(job.id)?.stop("shutdown");
      if (jobs.length === 0) return;
      await releasePredictions(deps.database.sql, jobs, false);
      deps.wakeWorkers();
    },
  };
}

function noteWait(telemetry: Telemetry, { id, acceptedAt, waitedMs }: ClaimedJob): void {
  telemetry.concerns(id, "async");
  telemetry.slotAwaited("async", waitedMs);
  const from = acceptedAt.getTime();
  telemetry.past(() => ({
    name: "queue",
    kind: "consumer",
    attributes: { "gantry.prediction_id": id },
    from,
    until: from + waitedMs,
  }));
}
