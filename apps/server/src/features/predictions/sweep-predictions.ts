import type { Database } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import { type HeldPredictions, stopReasons } from "./held-predictions.ts";
import { endedUnused } from "./prediction.ts";
import type { Settlement } from "./settle-predictions.ts";
import {
  beat,
  forgetDeadNodes,
  forgetNode,
  type GrantedSlot,
  grantFreeSlots,
  listAbandoned,
  listHeldBy,
  listStarted,
} from "./store.ts";

/** A node that has not moved its heartbeat for so long has lost what it holds. */
const deadAfterSeconds = 10;
const everyMs = 2_000;
const abandonedPerSweep = 500;
/** Longer than a query's deadline: an admission that is still being written is not taken for a lost one. */
const unknownAfterSeconds = 20;

export interface Sweeper {
  /** One pass now; passes go on every two seconds by themselves. */
  sweep(): Promise<void>;
  /** Stops the passes and gives up this node's heartbeat. */
  stop(): Promise<void>;
}

export interface SweeperDeps {
  database: Database;
  log: Log;
  nodeId: string;
  held: HeldPredictions;
  settlement: Settlement;
  announceGrants(grants: readonly GrantedSlot[]): Promise<void>;
}

/**
 * Keeps the promise that every accepted prediction ends, whatever dies on the way. Each pass: moves this node's
 * heartbeat; ends what a dead node held; ends what the database believes to be here and is not (an admission whose
 * answer was lost); hands out free slots that nobody was told of; picks up grants whose notice was lost.
 */
export async function startSweeper(deps: SweeperDeps): Promise<Sweeper> {
  const { database, held, nodeId } = deps;

  async function endAbandoned(): Promise<void> {
    const lost = await listAbandoned(database.sql, deadAfterSeconds, abandonedPerSweep);
    const unknown = (await listHeldBy(database.sql, nodeId, unknownAfterSeconds)).filter((row) => !held.get(row.id));
    for (const row of unknown) deps.log.warn({ prediction_id: row.id }, "Ending a prediction that nobody executes");
    await Promise.all(
      [...lost, ...unknown].map(({ id, claim }) => deps.settlement.settle(id, claim, endedUnused(stopReasons.left()))),
    );
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
    await beat(database.sql, nodeId);
    await endAbandoned();
    await handOutFreeSlots();
    await pickUpGrants();
    await forgetDeadNodes(database.sql, deadAfterSeconds * 6);
  }

  let stopped = false;
  let pass: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    pass = pass
      .then(() => (stopped ? undefined : sweep()))
      .catch((error) => deps.log.warn({ err: error }, "A sweep failed, the next one tries again"));
  }, everyMs);
  await sweep();

  return {
    sweep,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await pass;
      await forgetNode(database.sql, nodeId).catch(() => {});
    },
  };
}
