import type { Database } from "../../engines/database/database.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { type HeldPredictions, stopReasons } from "./held-predictions.ts";
import { endedUnused } from "./prediction.ts";
import type { Settlement } from "./settle-predictions.ts";
import {
  beat,
  forgetDeadNodes,
  forgetNode,
  forgetOldFlow,
  type GrantedSlot,
  grantFreeSlots,
  isAnyQueued,
  listAbandoned,
  listHeldBy,
  listLost,
  listOverdue,
  listStarted,
  releasePredictions,
} from "./store.ts";

/** A node that has not moved its heartbeat for so long has lost what it holds. */
const deadAfterSeconds = 10;
const everyMs = 2_000;
/** A node that could not move its own heartbeat for so long cannot tell whether others could. */
const longSilenceMs = 5_000;
const perSweep = 500;
const stopWithinMs = 5_000;
/** A job that takes its workers down with it is not tried for ever. */
const deathsAllowed = 3;
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
  wakeWorkers(): void;
}

const killedWorkers = () =>
  fault("internal_server_error", "The workers that ran the prediction died three times", { retryable: false });

/**
 * Keeps the promise that every accepted prediction ends, whatever dies on the way. Each pass: takes over what a dead node
 * held; gives up what the database believes to be here and is not; stops what is here and no longer this node's; ends
 * what waited too long; hands out free slots that nobody was told of; picks up grants whose notice was lost; wakes workers
 * for what a queue may have forgotten. The heartbeat moves beside it: a pass may take long, and that is no death.
 */
export async function startSweeper(deps: SweeperDeps): Promise<Sweeper> {
  const { database, held, nodeId } = deps;

  let lastBeatAt = performance.now();
  let mayJudgeFrom = lastBeatAt;

  /**
   * After a silence of its own (the database was away, this process stood still) a node gives all others the time to be
   * heard: they had the same silence, and the first one back must not take them for dead.
   */
  async function moveHeartbeat(): Promise<void> {
    await beat(database.sql, nodeId);
    const now = performance.now();
    if (now - lastBeatAt > longSilenceMs) mayJudgeFrom = now + deadAfterSeconds * 1000;
    lastBeatAt = now;
  }

  /** What a dead node held: queued ones go back into the line, the others have lost their client. */
  async function takeOverAbandoned(): Promise<void> {
    if (performance.now() < mayJudgeFrom || performance.now() - lastBeatAt > longSilenceMs) return;
    const lost = await listAbandoned(database.sql, deadAfterSeconds, perSweep);
    const again = lost.filter((row) => row.queued && row.deaths + 1 < deathsAllowed);
    if (again.length > 0) {
      await releasePredictions(database.sql, again, true);
      deps.log.warn({ predictions: again.length }, "Taking over queued predictions of a dead worker");
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
    await Promise.all(rows.map((row) => deps.settlement.settle(row.id, row.claim, endedUnused(why(row)), true)));
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
    await takeOverAbandoned();
    await endUnknown();
    await stopLost();
    await endOverdue();
    await handOutFreeSlots();
    await pickUpGrants();
    if (await isAnyQueued(database.sql)) deps.wakeWorkers();
    await forgetDeadNodes(database.sql, deadAfterSeconds * 6);
    await forgetOldFlow(database.sql);
  }

  await moveHeartbeat();
  await sweep();
  const heartbeat = repeat(moveHeartbeat, (error) => deps.log.warn({ err: error }, "The heartbeat could not be moved"));
  const passes = repeat(sweep, (error) => deps.log.warn({ err: error }, "A sweep failed, the next one tries again"));

  return {
    sweep,
    async stop() {
      // A pass waits for a database that is away; a process that goes down does not.
      const isOver = Promise.all([passes.stop(), heartbeat.stop()]);
      await Promise.race([isOver, new Promise((resolve) => setTimeout(resolve, stopWithinMs).unref())]);
      await forgetNode(database.sql, nodeId).catch(() => {});
    },
  };
}

/** Every two seconds, unless the last one still goes on. */
function repeat(work: () => Promise<void>, onError: (error: unknown) => void): { stop(): Promise<void> } {
  let current: Promise<void> | undefined;
  const timer = setInterval(() => {
    current ??= work()
      .catch(onError)
      .finally(() => {
        current = undefined;
      });
  }, everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await current;
    },
  };
}
