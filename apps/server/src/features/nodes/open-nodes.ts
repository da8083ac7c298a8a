import type { Sql } from "../../engines/database/database.ts";
import { type Repeated, repeat } from "../../kernel/repeat.ts";
import { type Joining, join } from "./join.ts";
import { beat, forgetAllNodes, forgetDeadNodes, forgetNode, hasBeatenWithin, isGone } from "./store.ts";

/** A condition on a column with a node id: the node is dead or unknown. */
export type Gone = (sql: Sql, nodeId: ReturnType<Sql>) => ReturnType<Sql>;

export interface Nodes {
  /** Calls the listener at once, and then every second. */
  onDead(takeOver: (gone: Gone) => Promise<void>): Promise<Repeated>;
  hasBeatenWithin(nodeId: string, milliseconds: number): Promise<boolean>;
  /** Declares nodes dead whose process is known to have ended. */
  forget(nodeIds: readonly string[]): Promise<void>;
  leave(): Promise<void>;
}

export interface NodesDeps extends Joining {
  /** Only one process can use this database, so all other nodes are dead. */
  isAlone: boolean;
}

const everyMs = 1_000;
/** A silent node is dead only if this node wrote so many heartbeats meanwhile. Otherwise the database was away for both. */
const ownBeatsMeanwhile = 4;

/** Joins the cluster, and writes the heartbeat of this node until it leaves. */
export async function openNodes(deps: NodesDeps): Promise<Nodes> {
  const { log, nodeId, fileStore } = deps;
  const { sql } = deps.database;
  if (deps.isAlone) await forgetAllNodes(sql);
  else await join(deps);
  const marks = { keyProof: deps.proofOf(nodeId), fileStore };

  /** The last heartbeats of this node, by the clock of the database, oldest first. */
  const beats: Date[] = [];

  async function writeHeartbeat(): Promise<void> {
    beats.push(await beat(sql, nodeId, marks));
    if (beats.length > ownBeatsMeanwhile) beats.shift();
  }

  /** Until this node has enough heartbeats, all known nodes count as alive. */
  const unheardSince = () => (beats.length < ownBeatsMeanwhile ? undefined : beats[0]) ?? new Date(0);
  const forgetDead = () => forgetDeadNodes(sql, unheardSince());

  const failed = (error: unknown) =>
    log.warn({ err: error }, "A check of the other nodes failed; the next tries again");
  await writeHeartbeat();
  await forgetDead();
  // The heartbeat has its own loop, because the others may take long.
  const loops = [repeat(writeHeartbeat, everyMs, failed), repeat(forgetDead, everyMs, failed)];

  return {
    async onDead(takeOver) {
      const check = () => takeOver((on, id) => isGone(on, id, unheardSince()));
      await check();
      return repeat(check, everyMs, failed);
    },
    hasBeatenWithin: (id, milliseconds) => hasBeatenWithin(sql, id, milliseconds),
    async forget(nodeIds) {
      for (const id of nodeIds) await forgetNode(sql, id);
    },
    async leave() {
      await Promise.all(loops.map((loop) => loop.stop()));
      await forgetNode(sql, nodeId).catch(() => {});
    },
  };
}
