import type { Database } from "../../../engines/database/database.ts";
import type { Telemetry } from "../../../engines/telemetry/telemetry.ts";
import { createBatcher } from "../../../kernel/batcher.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { Fault } from "../../../kernel/errors.ts";
import type { ArrivingPrediction, Decision, Ending, FreedSlots, GrantedSlot } from "../store.ts";
import type { FlowCounts } from "./flow-counts.ts";
import { type Written, writePredictions } from "./write-store.ts";

/** What a node's own predictions come to in the database. The caller is answered after the commit. */
export interface PredictionWriter {
  decide(arrival: ArrivingPrediction): Promise<Decision>;
  /**
   * Ends one that has no webhook, and nothing beside its row that must go with it. False when it had ended before, or is
   * no longer this claim's to end. `freesHand`: it was queued, and a hand of this worker is free for another with its end.
   */
  end(ending: Ending, freesHand?: boolean): Promise<boolean>;
}

export interface WriterDeps {
  database: Database;
  clock: Clock;
  telemetry: Telemetry;
  nodeId: string;
  flow: FlowCounts;
  announceGrants(grants: readonly GrantedSlot[]): Promise<void>;
  /** A slot is free that a queued prediction may take. */
  wakeWorkers(): void;
  /** The hands that become free with what ends, for what waits in the queue. */
  takeFreedSlots(freed: number): FreedSlots;
}

type Item =
  | { arrival: ArrivingPrediction; ending?: never; freesHand?: never }
  | { ending: Ending; freesHand: boolean; arrival?: never };

/** Group commit: what arrives and what ends while one batch is under way goes into the next, in one statement. */
export function createPredictionWriter(deps: WriterDeps): PredictionWriter {
  const { database, telemetry, nodeId } = deps;

  async function write(items: readonly Item[]): Promise<(Decision | boolean)[]> {
    const startedAt = performance.now();
    const endings: Ending[] = [];
    const arrivals: ArrivingPrediction[] = [];
    let freed = 0;
    for (const { ending, arrival, freesHand } of items) {
      if (ending) endings.push(ending);
      else arrivals.push(arrival);
      if (freesHand) freed++;
    }
    const loan = deps.takeFreedSlots(freed);
    let written: Written;
    try {
      written = await writePredictions(database.sql, arrivals, endings, {
        nodeId,
        month: monthOf(deps.clock),
        hands: loan.hands,
        lazily: endings.length === 0 && arrivals.every((arrival) => arrival.mayBeLost),
      });
    } catch (error) {
      loan.use([]);
      throw error;
    }
    loan.use(written.jobs ?? []);
    for (const modelId of written.endedModels ?? []) deps.flow.ended(modelId);
    const milliseconds = performance.now() - startedAt;
    if (arrivals.length > 0) telemetry.batchWritten("admission", arrivals.length, milliseconds);
    if (endings.length > 0) telemetry.batchWritten("settlement", endings.length, milliseconds);
    // It is committed: a notice that gets lost must not look like a failure. The sweep of its node picks the grant up.
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
    // A lost database concerns everybody; anything else may be the fault of one row.
    blameItem: (error) => !(error instanceof Fault),
  });

  return {
    decide: (arrival) => batcher.add({ arrival }) as Promise<Decision>,
    end: (ending, freesHand = false) => batcher.add({ ending, freesHand }) as Promise<boolean>,
  };
}

/** The month in which a key spends, as its first day. */
export function monthOf(clock: Clock): string {
  return `${clock.now().toISOString().slice(0, 7)}-01`;
}

const runsWithoutLimit: Decision = {
  verdict: "run",
  rateLimit: null,
  rateRemaining: null,
  rateResetMs: null,
  retryAfterMs: null,
};
