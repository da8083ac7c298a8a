import type { Database } from "../../engines/database/database.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import { Fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { lockFundsOf, settleFunds } from "../billing/index.ts";
import { type Outcome, statusOf } from "./prediction.ts";
import { type Ending, endPredictions, type GrantedSlot, grantSlots, lockSlotsOf, wasEndedAs } from "./store.ts";

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
      const { ended, grants } = await deps.database.transaction(async (tx) => {
        const ids = endings.map((one) => one.id);
        const [, , result] = await Promise.all([
          lockFundsOf(tx, ids),
          lockSlotsOf(tx, ids),
          endPredictions(tx, endings),
        ]);
        const byId = new Map(endings.map((one) => [one.id, one]));
        const settled = result.ended.flatMap((row) => {
          const ending = byId.get(row.id);
          return ending ? [{ ...ending, ...row }] : [];
        });
        if (settled.length > 0) await settleFunds(tx, settled);
        const granted = result.waitingModels.length > 0 ? await grantSlots(tx, result.waitingModels) : [];
        return { ended: new Set(result.ended.map((row) => row.id)), grants: granted };
      });
      if (grants.length > 0) await deps.announceGrants(grants);
      return endings.map((one) => ended.has(one.id));
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
    inferenceMs: outcome.inferenceMs === undefined ? null : Math.round(outcome.inferenceMs),
    output: outcome.kind === "done" ? JSON.stringify(outcome.output) : null,
    error: outcome.kind === "failed" ? JSON.stringify(outcome.fault.issues) : null,
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    cachedTokens: usage?.cachedTokens ?? null,
    price: outcome.price,
  };
}
