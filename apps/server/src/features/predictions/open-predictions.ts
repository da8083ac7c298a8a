import type { Database } from "../../engines/database/database.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { createAdmission } from "./admit-predictions.ts";
import { startCancellation } from "./cancel-prediction.ts";
import type { ExecutionDeps } from "./execute-prediction.ts";
import { startGrantAnnouncements } from "./grant-announcements.ts";
import { createHeldPredictions } from "./held-predictions.ts";
import { type LookRequest, lookAtLimits } from "./look-at-limits.ts";
import { type RunEnd, type RunRequest, runPrediction } from "./run-prediction.ts";
import { createSettlement } from "./settle-predictions.ts";
import type { PredictionAddress } from "./store.ts";
import { startSweeper } from "./sweep-predictions.ts";

export interface PredictionsDeps extends Omit<ExecutionDeps, "log"> {
  database: Database;
  clock: Clock;
  log: Log;
  nodeId: string;
  countTokens(text: string): Promise<number>;
}

export interface Predictions {
  /** Runs a prediction whose client is connected here. */
  run(request: RunRequest): Promise<RunEnd>;
  /** Rejects as admission would: key, model, funds, limits. */
  look(request: LookRequest): Promise<void>;
  /** Answers the terminal status. */
  cancel(address: PredictionAddress): Promise<number>;
  /** How many this process holds. */
  underWay(): number;
  /** Lets running ones end within the time, then cancels the rest. */
  drain(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

const lookAgainMs = 20;
/** After this the database is away for good, and the next start ends what is left. */
const lastWritesMs = 5_000;

export async function openPredictions(deps: PredictionsDeps): Promise<Predictions> {
  const { database, clock, log, nodeId } = deps;
  const held = createHeldPredictions();
  const grants = await startGrantAnnouncements(database, nodeId, held);
  const settlement = createSettlement({ database, log, announceGrants: grants.announce });
  const cancellation = await startCancellation({ database, nodeId, held, settlement });
  const sweeper = await startSweeper({ database, log, nodeId, held, settlement, announceGrants: grants.announce });
  const admit = createAdmission(database, clock);
  const runDeps = { ...deps, held, settlement, admit };

  async function untilIdle(milliseconds: number): Promise<void> {
    for (const until = Date.now() + milliseconds; held.size > 0 && Date.now() < until; ) {
      await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
    }
  }

  return {
    run: (request) => runPrediction(runDeps, request),
    look: (request) => lookAtLimits(admit, request),
    cancel: cancellation.cancel,
    underWay: () => held.size,
    async drain(milliseconds) {
      await untilIdle(milliseconds);
      held.stopAll("shutdown");
      await untilIdle(lastWritesMs);
    },
    async close() {
      await sweeper.stop();
      await Promise.all([grants.stop(), cancellation.stop()]);
    },
  };
}
