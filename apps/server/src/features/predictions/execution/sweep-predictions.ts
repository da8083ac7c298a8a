import type { Database } from "../../../engines/database/database.ts";
import { type Fault, fault } from "../../../kernel/errors.ts";
import type { Log } from "../../../kernel/log.ts";
import { repeat } from "../../../kernel/repeat.ts";
import type { Gone, Nodes } from "../../nodes/index.ts";
import { endedUnused } from "../prediction.ts";
import type { Settlement } from "../result/settle-predictions.ts";
import { type GrantedSlot, releasePredictions } from "../store.ts";
import { type HeldPredictions, stopReasons } from "./held-predictions.ts";
import {
  forgetOldFlow,
  grantFreeSlots,
  isAnyQueued,
  listAbandoned,
  listHeldBy,
  listLost,
  listOverdue,
  listStarted,
  mendLines,
} from "./sweep-store.ts";

const everyMs = 2_000;
const mendLinesEveryMs = 30_000;
const perSweep = 500;
/** A job that takes its workers down with it is not tried for ever. */
const deathsAllowed = 3;
/** Longer than a query's deadline: an admission that is still being written is not taken for a lost one. */
const unknownAfterSeconds = 20;

export interface Sweeper {
  stop(): Promise<void>;
}

export interface SweeperDeps {
  database: Database;
  log: Log;
  nodeId: string;
  nodes: Nodes;
  held: HeldPredictions;
  settlement: Settlement;
  announceGrants(grants: readonly GrantedSlot[]): Promise<void>;
  wakeWorkers(): void;
}

const killedWorkers = () =>
  fault("internal_server_error", "The workers that ran the prediction died three times", { retryable: false });

/**
 * Keeps the promise that every accepted prediction ends, whatever dies on the way. Each pass: gives up what the database
 * believes to be here and is not; stops what is here and no longer this node's; ends what waited too long; hands out free
 * slots that nobody was told of; picks up grants whose notice was lost; wakes workers for what a queue may have forgotten.
 * Beside the passes, because one may take long, what a dead node held is taken over.
 */
export async function startSweeper(deps: SweeperDeps): Promise<Sweeper> {
  const { database, held, nodeId } = deps;

  /** What a dead node held: queued ones go back into the line, the others have lost their client. */
  async function takeOverAbandoned(gone: Gone): Promise<void> {
    const lost = await listAbandoned(database.sql, gone, perSweep);
    const again = lost.filter((row) => row.queued && row.deaths + 1 < deathsAllowed);
    if (again.length > 0) {
      await releasePredictions(database.sql, again, true);
      deps.log.warn({ predictions: again.length }, "ClaimLoop over queued predictions of a dead worker");
      deps.wakeWorkers();
    }
    const over = lost.filter((row) => !again.includes(row));
    await endAll(over, (row) => (row.queued ? killedWorkers() : stopReasons.left()));
  }

  /** What the database believes to be here and is not: an admission or a claim whose answer was lost. */
  async function endUnknown(): Promise<void> {
    const unknown = (await listHeldBy(database.sql, nodeId, unknownAfterSeconds)).filter((row) => !held.get(row.id));
    for (const row of unknown) deps.log.warn({ prediction_id: row.id }, "Giving up a prediction that nobody executes");
    const again = unknown.filter((row) => row.queued);
    if (again.length > 0) await releasePredictions(database.sql, again, false);
    await endAll(
      unknown.filter((row) => !row.queued),
      () => stopReasons.left(),
    );
  }

  /** Others took this node for dead, or a cancel did not reach it: the upstream works for nobody. */
  async function stopLost(): Promise<void> {
    const claims = held.claims();
    if (claims.length === 0) return;
    for (const claim of await listLost(database.sql, nodeId, claims)) held.lose(claim);
  }

  async function endOverdue(): Promise<void> {
    await endAll(await listOverdue(database.sql, perSweep), () => stopReasons.queueTimeout());
  }

  async function endAll<T extends { id: string; claim: number }>(
    rows: readonly T[],
    why: (row: T) => Fault,
  ): Promise<void> {
    await Promise.all(rows.map((row) => deps.settlement.settle(row.id, row.claim, endedUnused(why(row)), "more")));
  }

  async function handOutFreeSlots(): Promise<void> {
    const grants = await grantFreeSlots(database);
    if (grants.length > 0) await deps.announceGrants(grants);
  }

  async function pickUpGrants(): Promise<void> {
    const waiting = held.waitingIds();
    if (waiting.length === 0) return;
    for (const { id } of await listStarted(database.sql, waiting)) held.granted(id);
  }

  async function sweep(): Promise<void> {
    await endUnknown();
    await stopLost();
    await endOverdue();
    await handOutFreeSlots();
    await pickUpGrants();
    if (await isAnyQueued(database.sql)) deps.wakeWorkers();
    await forgetOldFlow(database.sql);
  }

  const takingOver = await deps.nodes.onDead(takeOverAbandoned);
  await sweep();
  const failed = (error: unknown) => deps.log.warn({ err: error }, "A sweep failed, the next one tries again");
  const loops = [
    takingOver,
    repeat(sweep, everyMs, failed),
    repeat(() => mendLines(database.sql), mendLinesEveryMs, failed),
  ];

  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
