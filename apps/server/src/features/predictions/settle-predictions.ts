import type { Database } from "../../engines/database/database.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import { Fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { type Outcome, statusOf } from "./prediction.ts";
import { type Ending, type GrantedSlot, settleEndings, wasEndedAs } from "./store.ts";

export interface Settlement {
  /**
   * Ends a prediction for good. True when this call ended it, false when it was already ended, or is no longer this
   * claim's to end. Does not give up: an engine that is away is waited for, because what ran must be written down.
   */
  settle(id: string, claim: number, outcome: Outcome): Promise<boolean>;
}

const firstPauseMs = 50;
const longestPauseMs = 2_000;

/** Settlement: group commit, like admission. Whoever waits for the slots that become free gets them in the same commit. */
export function createSettlement(deps: {
  database: Database;
  log: Log;
  announceGrants(grants: readonly GrantedSlot[]): Promise<void>;
}): Settlement {
  const batcher = createBatcher<Ending, boolean>({
    maxItems: 512,
    blameItem: (error) => !(error instanceof Fault),
    run: async (endings) => {
      const { ended, grants } = await settleEndings(deps.database.sql, endings);
      if (grants.length > 0) await deps.announceGrants(grants);
      const endedNow = new Set(ended);
      return endings.map((one) => endedNow.has(one.id));
    },
  });

  async function settle(id: string, claim: number, outcome: Outcome): Promise<boolean> {
    const ending = toEnding(id, claim, outcome);
    for (let pause = firstPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
      try {
        const endedNow = await batcher.add(ending);
        // A try before this one may have been committed although its answer was lost.
        return endedNow || (pause > firstPauseMs && (await wasEndedAs(deps.database.sql, id, ending.status)));
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        deps.log.warn({ prediction_id: id, err: error }, "The end of a prediction could not be written, trying again");
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  return { settle };
}

function toEnding(id: string, claim: number, outcome: Outcome): Ending {
  const usage = outcome.usage;
  return {
    id,
    claim,
    status: statusOf(outcome),
    inference_ms: outcome.inferenceMs === undefined ? undefined : Math.round(outcome.inferenceMs),
    output: outcome.kind === "done" ? JSON.stringify(outcome.output) : undefined,
    error: outcome.kind === "failed" ? JSON.stringify(outcome.fault.issues) : undefined,
    input_tokens: usage?.inputTokens,
    output_tokens: usage?.outputTokens,
    cached_tokens: usage?.cachedTokens,
    price: outcome.price,
  };
}
