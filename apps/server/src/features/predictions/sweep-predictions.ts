import type { Database } from "../../engines/database/database.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { type HeldPredictions, stopReasons } from "./held-predictions.ts";
import { releasePredictions } from "./job-store.ts";
import { endedUnused } from "./prediction.ts";
import type { Settlement } from "./settle-predictions.ts";
import { followHeartbeats, type StandingHeartbeat, silentAmong } from "./silent-nodes.rules.ts";
import type { GrantedSlot } from "./store.ts";
import {
  beat,
  forgetDeadNodes,
  forgetNode,
  forgetOldFlow,
  forgetSilentNodes,
  grantFreeSlots,
  isAnyQueued,
  listAbandoned,
  listFutureHeartbeats,
  listHeldBy,
  listLost,
  listOverdue,
  listStarted,
  mendLines,
  type NodeMarks,
} from "./sweep-store.ts";

/** A node that has not moved its heartbeat for so long has lost what it holds. */
const deadAfterSeconds = 10;
/** And that only if this node has moved its own so often since: otherwise the database was away, for both of them. */
const ownBeatsMeanwhile = 4;
const beatEveryMs = 1_000;
const everyMs = 2_000;
const mendLinesEveryMs = 30_000;
const perSweep = 500;
const stopWithinMs = 5_000;
/** A job that takes its workers down with it is not tried for ever. */
const deathsAllowed = 3;
/** Longer than a query's deadline: an admission that is still being written is not taken for a lost one. */
const unknownAfterSeconds = 20;

export interface Sweeper {
  /** Stops the passes and gives up this node's heartbeat. */
  stop(): Promise<void>;
}

export interface SweeperDeps {
  database: Database;
  log: Log;
  nodeId: string;
  marks: NodeMarks;
  held: HeldPredictions;
  settlement: Settlement;
  announceGrants(grants: readonly GrantedSlot[]): Promise<void>;
  wakeWorkers(): void;
  /** Others whose work is held by nodes, told at every look for dead ones. */
  takeOver?: TakeOver | undefined;
}

/** A node is dead that has not moved its heartbeat for so long, nor since the moment (undefined: not yet known). */
export type TakeOver = (dead: { deadAfterSeconds: number; unheardSince: Date | undefined }) => Promise<void>;

const killedWorkers = () =>
  fault("internal_server_error", "The workers that ran the prediction died three times", { retryable: false });

/**
 * Keeps the promise that every accepted prediction ends, whatever dies on the way. Each pass: gives up what the database
 * believes to be here and is not; stops what is here and no longer this node's; ends what waited too long; hands out free
 * slots that nobody was told of; picks up grants whose notice was lost; wakes workers for what a queue may have forgotten.
 * Beside the passes, because one may take long, this node's heartbeat is moved, and what a dead node held is taken over.
 */
export async function startSweeper(deps: SweeperDeps): Promise<Sweeper> {
  const { database, held, nodeId } = deps;

  /** When this node last moved its heartbeat, by the clock of the database, oldest first. */
  const beats: Date[] = [];

  let ownBeats = 0;

  async function moveHeartbeat(): Promise<void> {
    beats.push(await beat(database.sql, nodeId, deps.marks));
    ownBeats++;
    if (beats.length > ownBeatsMeanwhile) beats.shift();
  }

  /** Heartbeats that lie in the future. */
  let ahead: StandingHeartbeat[] = [];

  /**
   * A heartbeat in the future says nothing about when it was moved: the clock was set back since. A node that lives moves
   * it within a second, one that leaves it there for as long as the others are given is dead.
   */
  async function forgetSilent(): Promise<void> {
    const time = { upMs: performance.now(), beats: ownBeats };
    ahead = followHeartbeats(ahead, await listFutureHeartbeats(database.sql), time);
    const silent = silentAmong(ahead, time, { upMs: deadAfterSeconds * 1_000, beats: ownBeatsMeanwhile });
    if (silent.length > 0) await forgetSilentNodes(database.sql, silent);
  }

  /** What a dead node held: queued ones go back into the line, the others have lost their client. */
  async function takeOverAbandoned(): Promise<void> {
    await forgetSilent();
    const unheardSince = beats.length < ownBeatsMeanwhile ? undefined : beats[0];
    const lost = await listAbandoned(database.sql, { deadAfterSeconds, unheardSince }, perSweep);
    const again = lost.filter((row) => row.queued && row.deaths + 1 < deathsAllowed);
    if (again.length > 0) {
      await releasePredictions(database.sql, again, true);
      deps.log.warn({ predictions: again.length }, "Taking over queued predictions of a dead worker");
      deps.wakeWorkers();
    }
    const over = lost.filter((row) => !again.includes(row));
    await endAll(over, (row) => (row.queued ? killedWorkers() : stopReasons.left()));
    await deps.takeOver?.({ deadAfterSeconds, unheardSince });
    if (unheardSince) await forgetDeadNodes(database.sql, deadAfterSeconds * 6, unheardSince);
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

  await moveHeartbeat();
  await takeOverAbandoned();
  await sweep();
  const failed = (error: unknown) => deps.log.warn({ err: error }, "A sweep failed, the next one tries again");
  const loops = [
    repeat(moveHeartbeat, beatEveryMs, failed),
    repeat(takeOverAbandoned, beatEveryMs, failed),
    repeat(sweep, everyMs, failed),
    repeat(() => mendLines(database.sql), mendLinesEveryMs, failed),
  ];

  return {
    async stop() {
      // A pass waits for a database that is away; a process that goes down does not.
      const isOver = Promise.all(loops.map((loop) => loop.stop()));
      await Promise.race([isOver, new Promise((resolve) => setTimeout(resolve, stopWithinMs).unref())]);
      await forgetNode(database.sql, nodeId).catch(() => {});
    },
  };
}

/** Begins the work so often, unless the last one still goes on. */
function repeat(
  work: () => Promise<void>,
  milliseconds: number,
  onError: (error: unknown) => void,
): { stop(): Promise<void> } {
  let current: Promise<void> | undefined;
  const timer = setInterval(() => {
    current ??= work()
      .catch(onError)
      .finally(() => {
        current = undefined;
      });
  }, milliseconds);
  return {
    async stop() {
      clearInterval(timer);
      await current;
    },
  };
}
