import type { Sql } from "../../engines/database/database.ts";
import { type Repeated, repeat } from "../../kernel/repeat.ts";
import { type Joining, join } from "./join.ts";
import { followHeartbeats, type StandingHeartbeat, silentAmong } from "./silent-nodes.rules.ts";
import {
  beat,
  deadAfterSeconds,
  forgetAllNodes,
  forgetDeadNodes,
  forgetNode,
  forgetSilentNodes,
  hasBeatenWithin,
  isGone,
  listFutureHeartbeats,
} from "./store.ts";

/** The condition that the holder, a column, is dead or not known. */
export type Gone = (sql: Sql, holder: ReturnType<Sql>) => ReturnType<Sql>;

export interface Nodes {
  /** Calls the listener at once, and then every second. */
  onDead(takeOver: (gone: Gone) => Promise<void>): Promise<Repeated>;
  hasBeatenWithin(nodeId: string, milliseconds: number): Promise<boolean>;
  /** Gives up the heartbeat of this node. */
  leave(): Promise<void>;
}

export interface NodesDeps extends Joining {
  /** Only one process can use this database, so all other nodes are dead. */
  isAlone: boolean;
}

const everyMs = 1_000;
/** A node is dead only if this node moved its own heartbeat so often meanwhile. Otherwise the database was away for both. */
const ownBeatsMeanwhile = 4;

/** Joins the cluster, and moves the heartbeat of this node until it leaves. */
export async function openNodes(deps: NodesDeps): Promise<Nodes> {
  const { log, nodeId, fileStore } = deps;
  const { sql } = deps.database;
  if (deps.isAlone) await forgetAllNodes(sql);
  else await join(deps);
  const marks = { keyProof: deps.proofOf(nodeId), fileStore };

  /** The last heartbeats of this node, by the clock of the database, oldest first. */
  const beats: Date[] = [];
  let ownBeats = 0;

  async function moveHeartbeat(): Promise<void> {
    beats.push(await beat(sql, nodeId, marks));
    ownBeats++;
    if (beats.length > ownBeatsMeanwhile) beats.shift();
  }

  /** Before this node has beaten often enough, all nodes that are known count as alive. */
  const unheardSince = () => (beats.length < ownBeatsMeanwhile ? undefined : beats[0]) ?? new Date(0);

  let ahead: StandingHeartbeat[] = [];

  /**
   * A heartbeat in the future does not tell when it was moved: the clock was set back since. A node that lives moves it
   * within a second. A node that does not for as long as the others are given is dead.
   */
  async function forgetSilent(): Promise<void> {
    const time = { upMs: performance.now(), beats: ownBeats };
    ahead = followHeartbeats(ahead, await listFutureHeartbeats(sql), time);
    const silent = silentAmong(ahead, time, { upMs: deadAfterSeconds * 1_000, beats: ownBeatsMeanwhile });
    if (silent.length > 0) await forgetSilentNodes(sql, silent);
  }

  async function forgetDead(): Promise<void> {
    await forgetSilent();
    await forgetDeadNodes(sql, unheardSince());
  }

  const failed = (error: unknown) =>
    log.warn({ err: error }, "The look at other nodes failed, the next one tries again");
  await moveHeartbeat();
  await forgetDead();
  // The heartbeat has a loop of its own: the others may take long.
  const loops = [repeat(moveHeartbeat, everyMs, failed), repeat(forgetDead, everyMs, failed)];

  return {
    async onDead(takeOver) {
      const look = () => takeOver((on, holder) => isGone(on, holder, unheardSince()));
      await look();
      return repeat(look, everyMs, failed);
    },
    hasBeatenWithin: (id, milliseconds) => hasBeatenWithin(sql, id, milliseconds),
    async leave() {
      await Promise.all(loops.map((loop) => loop.stop()));
      await forgetNode(sql, nodeId).catch(() => {});
    },
  };
}
