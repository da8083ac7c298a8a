import type { Database } from "../../../engines/database/database.ts";
import { type Fault, fault } from "../../../kernel/errors.ts";
import type { Log } from "../../../kernel/log.ts";
import { repeat } from "../../../kernel/repeat.ts";
import type { Gone, Nodes } from "../../nodes/index.ts";
import { endedUnused, type GrantedSlot, stopReasons } from "../prediction.ts";
import type { Settlement } from "../result/settle-predictions.ts";
import { releaseJobs } from "../store.ts";
import type { LivePredictions } from "./live-predictions.ts";
import {
  deleteOldFlow,
  grantFreeSlots,
  isAnyQueued,
  listAbandoned,
  listClaimedBy,
  listLost,
  listOverdue,
  listStarted,
  repairQueues,
} from "./sweep-store.ts";

const everyMs = 2_000;
const repairQueuesEveryMs = 30_000;
const perSweep = 500;
/** A job that kills its workers is not retried forever. */
const deathsAllowed = 3;
/** Longer than a query's deadline, so that an admission in progress does not count as lost. */
const unknownAfterSeconds = 20;

export interface Sweeper {
  stop(): Promise<void>;
}

export interface SweeperDeps {
  database: Database;
  log: Log;
  nodeId: string;
  nodes: Nodes;
  live: LivePredictions;
  settlement: Settlement;
  announceGrants(grants: readonly GrantedSlot[]): Promise<void>;
  wakeWorkers(): void;
}

const killedWorkers = () =>
  fault("internal_server_error", "The workers that ran the prediction died three times", { retryable: false });

/**
 * Ensures that every accepted prediction ends, whatever dies on the way. Each pass:
 *
 * - releases predictions that the database assigns to this node but that are not here
 * - stops predictions that are here but no longer belong to this node
 * - ends predictions that waited too long
 * - grants free slots, and picks up grants whose notification was lost
 * - wakes workers, in case the queue lost a wake-up
 *
 * The predictions of dead nodes are taken over in a loop of their own, because a pass may take long.
 */
export async function startSweeper(deps: SweeperDeps): Promise<Sweeper> {
  const { database, live, nodeId } = deps;

  /** Queued predictions return to the queue. The others have lost their client. */
  async function takeOverAbandoned(gone: Gone): Promise<void> {
    const lost = await listAbandoned(database.sql, gone, perSweep);
    const again = lost.filter((row) => row.queued && row.deaths + 1 < deathsAllowed);
    if (again.length > 0) {
      await releaseJobs(database.sql, again, true);
      deps.log.warn({ predictions: again.length }, "Taking over queued predictions of a dead worker");
      deps.wakeWorkers();
    }
    const over = lost.filter((row) => !again.includes(row));
    await endAll(over, (row) => (row.queued ? killedWorkers() : stopReasons.left()));
  }

  /** The reply to an admission or a claim was lost. */
  async function releaseUnknown(): Promise<void> {
    const unknown = (await listClaimedBy(database.sql, nodeId, unknownAfterSeconds)).filter((row) => !live.get(row.id));
    for (const row of unknown) deps.log.warn({ prediction_id: row.id }, "Releasing a prediction that no node runs");
    const again = unknown.filter((row) => row.queued);
    if (again.length > 0) await releaseJobs(database.sql, again, false);
    await endAll(
      unknown.filter((row) => !row.queued),
      () => stopReasons.left(),
    );
  }

  /** Other nodes considered this one dead, or a cancellation did not reach it. */
  async function stopLost(): Promise<void> {
    const claims = live.claims();
    if (claims.length === 0) return;
    for (const claim of await listLost(database.sql, nodeId, claims)) live.lose(claim);
  }

  async function endOverdue(): Promise<void> {
    await endAll(await listOverdue(database.sql, perSweep), () => stopReasons.queueTimeout());
  }

  async function endAll<T extends { id: string; claim: number }>(
    rows: readonly T[],
    why: (row: T) => Fault,
  ): Promise<void> {
    const end = (row: T) => deps.settlement.settle(row.id, row.claim, endedUnused(why(row)), "more");
    const ended = await Promise.allSettled(rows.map(end));
    // One that cannot be ended must not hold up the others.
    for (const [n, one] of ended.entries()) {
      if (one.status === "rejected")
        deps.log.warn(
          { prediction_id: rows[n]?.id, err: one.reason },
          "Ending a prediction failed; the next sweep tries again",
        );
    }
  }

  async function announceFreeSlots(): Promise<void> {
    const grants = await grantFreeSlots(database);
    if (grants.length > 0) await deps.announceGrants(grants);
  }

  async function pickUpGrants(): Promise<void> {
    const waiting = live.waitingIds();
    if (waiting.length === 0) return;
    for (const { id } of await listStarted(database.sql, waiting)) live.granted(id);
  }

  async function sweep(): Promise<void> {
    await releaseUnknown();
    await stopLost();
    await endOverdue();
    await announceFreeSlots();
    await pickUpGrants();
    if (await isAnyQueued(database.sql)) deps.wakeWorkers();
    await deleteOldFlow(database.sql);
  }

  const takingOver = await deps.nodes.onDead(takeOverAbandoned);
  await sweep();
  const failed = (error: unknown) =>
    deps.log.warn({ err: error }, "A sweep of predictions failed; the next tries again");
  const loops = [
    takingOver,
    repeat(sweep, everyMs, failed),
    repeat(() => repairQueues(database.sql), repairQueuesEveryMs, failed),
  ];

  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
