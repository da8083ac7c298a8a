import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../../engines/database/database.ts";
import { fault } from "../../../kernel/errors.ts";
import type { Nodes } from "../../nodes/index.ts";
import { endedUnused, stopReasons } from "../prediction.ts";
import type { Settlement } from "../result/settle-predictions.ts";
import { findEnded, findLive, type PredictionAddress } from "../store.ts";
import type { LivePredictions } from "./live-predictions.ts";

const channel = "gantry_cancel";
/** After this time, a node without a fresh heartbeat does not answer, and the caller ends its prediction. */
const deadNodeWaitMs = 3_000;
/** A node that is alive gets longer: it may be busy, and it knows the usage. */
const liveNodeWaitMs = 15_000;
const pollMs = 25;
const slowPollMs = 250;

export interface Cancellation {
  /** Stops the prediction on any node. Returns the terminal status: 499 if this call cancelled it. */
  cancel(address: PredictionAddress): Promise<number>;
  stop(): Promise<void>;
}

/** Cancels through any node: the one that runs the prediction is notified. */
export async function startCancellation(deps: {
  database: Database;
  nodeId: string;
  nodes: Nodes;
  live: LivePredictions;
  settlement: Settlement;
}): Promise<Cancellation> {
  const { database, live } = deps;
  const listener = await database.listen(channel, (id) => live.get(id)?.stop("cancelled"));

  async function waitForEnd(address: PredictionAddress, holder: string): Promise<number | undefined> {
    const since = performance.now();
    for (let pauseMs = pollMs; ; ) {
      const ended = await findEnded(database.sql, address);
      if (ended) return ended.status;
      const waitedMs = performance.now() - since;
      if (waitedMs > liveNodeWaitMs) return undefined;
      if (waitedMs > deadNodeWaitMs) {
        if (!(await deps.nodes.hasBeatenWithin(holder, deadNodeWaitMs))) return undefined;
        pauseMs = slowPollMs;
      }
      await sleep(pauseMs);
    }
  }

  async function cancel(address: PredictionAddress): Promise<number> {
    for (;;) {
      const row = await findLive(database.sql, address);
      if (!row) {
        const ended = await findEnded(database.sql, address);
        if (!ended) throw fault("not_found", "Prediction not found");
        return ended.status;
      }
      if (row.holder) {
        live.get(address.id)?.stop("cancelled");
        if (row.holder !== deps.nodeId) await database.sql`select pg_notify(${channel}, ${address.id})`;
        const status = await waitForEnd(address, row.holder);
        if (status !== undefined) return status;
      }
      // No node runs it, or its node does not answer. If a worker claims it at this moment, the loop tries again.
      await deps.settlement.settle(address.id, row.claim, endedUnused(stopReasons.cancelled()), "more");
    }
  }

  return { cancel, stop: () => listener.stop() };
}
