import type { Database } from "../../../engines/database/database.ts";
import type { Telemetry } from "../../../engines/telemetry/telemetry.ts";
import { createBatcher } from "../../../kernel/batcher.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { Fault } from "../../../kernel/errors.ts";
import type { ArrivingPrediction, Decision, Ending, FreedSlots, GrantedSlot } from "../prediction.ts";
import type { FlowCounts } from "./flow-counts.ts";
import { type Written, writePredictions } from "./write-store.ts";

/** Writes arrivals and ends. Promises resolve after the commit. */
export interface PredictionWriter {
  decide(arrival: ArrivingPrediction): Promise<Decision>;
  /**
   * Ends a prediction that is only a row: no webhook, no files, no followers. False if it has ended before or another claim
   * owns it. `freesSlot`: it was queued, and its end frees a slot of this worker.
   */
  end(ending: Ending, freesSlot?: boolean): Promise<boolean>;
}

export interface WriterDeps {
  database: Database;
  clock: Clock;
  telemetry: Telemetry;
  nodeId: string;
  /** Other processes of this server write as well. */
  isOneOfSeveral?: boolean;
  flow: FlowCounts;
  announceGrants(grants: readonly GrantedSlot[]): Promise<void>;
  /** Called when a slot is free that a queued prediction may use. */
  wakeWorkers(): void;
  /** The slots of jobs that end in a batch, to be filled in the same statement. */
  takeFreedSlots(freed: number): FreedSlots;
}

type Item =
  | { arrival: ArrivingPrediction; ending?: never; freesSlot?: never }
  | { ending: Ending; freesSlot: boolean; arrival?: never };

/** Several processes halve the batches of one. Under load, a short wait fills them again: fewer statements and commits. */
const gatherMs = 3;
const fewItems = 6;

/** Group commit: arrivals and ends that come in during one batch are written by the next, in one statement. */
export function createPredictionWriter(deps: WriterDeps): PredictionWriter {
  const { database, telemetry, nodeId } = deps;
  let lastItems = 0;

  async function write(items: readonly Item[]): Promise<(Decision | boolean)[]> {
    lastItems = items.length;
    const startedAt = performance.now();
    const endings: Ending[] = [];
    const arrivals: ArrivingPrediction[] = [];
    let freed = 0;
    for (const { ending, arrival, freesSlot } of items) {
      if (ending) endings.push(ending);
      else arrivals.push(arrival);
      if (freesSlot) freed++;
    }
    const freedSlots = deps.takeFreedSlots(freed);
    let written: Written;
    try {
      written = await writePredictions(database.sql, arrivals, endings, {
        nodeId,
        today: todayOf(deps.clock),
        slots: freedSlots.slots,
        lazily: endings.length === 0 && arrivals.every((arrival) => arrival.mayBeLost),
      });
    } catch (error) {
      freedSlots.use([]);
      throw error;
    }
    freedSlots.use(written.jobs ?? []);
    for (const modelId of written.endedModels ?? []) deps.flow.ended(modelId);
    const milliseconds = performance.now() - startedAt;
    if (arrivals.length > 0) telemetry.batchWritten("admission", arrivals.length, milliseconds);
    if (endings.length > 0) telemetry.batchWritten("settlement", endings.length, milliseconds);
    // Committed already: a lost notification must not look like a failure. The sweep of the other node finds the grant.
    if (written.grants) deps.announceGrants(written.grants).catch(() => {});
    if (written.wake) deps.wakeWorkers();
    return answersTo(items, written);
  }

  function answersTo(items: readonly Item[], { decisions, ended }: Written): (Decision | boolean)[] {
    const counted = new Set(ended);
    let [arrivalAt, endingAt] = [0, 0];
    return items.map(({ arrival }) => {
      if (!arrival) return counted.has(endingAt++);
      const decision = decisions?.[arrivalAt++] ?? runsWithoutLimit;
      const isAccepted = decision.verdict === "run" || decision.verdict === "wait";
      if (isAccepted && arrival.purpose === "run") deps.flow.accepted(arrival.modelId);
      return decision;
    });
  }

  const batcher = createBatcher<Item, Decision | boolean>({
    run: write,
    maxItems: 1024,
    gatherMs: () => (deps.isOneOfSeveral && lastItems >= fewItems ? gatherMs : 0),
    weigh: ({ ending }) => (ending ? weightOf(ending) : 0),
    // A lost database affects every item; any other error may come from one row.
    blameItem: (error) => !(error instanceof Fault),
  });

  return {
    decide: (arrival) => batcher.add({ arrival }) as Promise<Decision>,
    end: (ending, freesSlot = false) => batcher.add({ ending, freesSlot }) as Promise<boolean>,
  };
}

/** Characters of the contents. */
export function weightOf({ output, kept }: Ending): number {
  return (output?.length ?? 0) + (kept?.length ?? 0);
}

/** The day of UTC. */
export function todayOf(clock: Clock): string {
  return clock.now().toISOString().slice(0, 10);
}

const runsWithoutLimit: Decision = {
  verdict: "run",
  rateLimit: null,
  rateRemaining: null,
  rateResetMs: null,
  retryAfterMs: null,
};
