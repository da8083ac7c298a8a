import type { Database } from "../../../engines/database/database.ts";
import { fault } from "../../../kernel/errors.ts";
import type { Nodes } from "../../nodes/index.ts";
import { endedUnused } from "../prediction.ts";
import type { Settlement } from "../result/settle-predictions.ts";
import { findEnded, findLive, type PredictionAddress } from "../store.ts";
import { type HeldPredictions, stopReasons } from "./held-predictions.ts";

const channel = "gantry_cancel";
/** A holder that has not ended it by then, nor moved its heartbeat meanwhile, does not answer: the caller ends it. */
const holderWaitMs = 3_000;
/** One that lives is given more: it may have much to do, and knows what was used. */
const livingWaitMs = 15_000;
const lookAgainMs = 25;
const lookSeldomMs = 250;

export interface Cancellation {
  /** Stops the work wherever it runs; answers the terminal status, 499 when this call cancelled it. */
  cancel(address: PredictionAddress): Promise<number>;
  stop(): Promise<void>;
}

/** Cancelling works through any node: the one that holds the prediction hears of it by NOTIFY. */
export async function startCancellation(deps: {
  database: Database;
  nodeId: string;
  nodes: Nodes;
  held: HeldPredictions;
  settlement: Settlement;
}): Promise<Cancellation> {
  const { database, held } = deps;
  const listener = await database.listen(channel, (id) => held.get(id)?.stop("cancelled"));

  async function waitForEnd(address: PredictionAddress, holder: string): Promise<number | undefined> {
    const since = performance.now();
    for (let pauseMs = lookAgainMs; ; ) {
      const ended = await findEnded(database.sql, address);
      if (ended) return ended.status;
      const waitedMs = performance.now() - since;
      if (waitedMs > livingWaitMs) return undefined;
      if (waitedMs > holderWaitMs) {
        if (!(await deps.nodes.hasBeatenWithin(holder, holderWaitMs))) return undefined;
        pauseMs = lookSeldomMs;
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  async function cancel(address: PredictionAddress): Promise<number> {
    for (;;) {
      const live = await findLive(database.sql, address);
      if (!live) {
        const ended = await findEnded(database.sql, address);
        if (!ended) throw fault("not_found", "Prediction not found");
        return ended.status;
      }
      if (live.holder) {
        held.get(address.id)?.stop("cancelled");
        if (live.holder !== deps.nodeId) await database.sql`select pg_notify(${channel}, ${address.id})`;
        const status = await waitForEnd(address, live.holder);
        if (status !== undefined) return status;
      }
      // Nobody executes it, or its holder does not answer. A worker may claim it in this moment: then look again.
      await deps.settlement.settle(address.id, live.claim, endedUnused(stopReasons.cancelled()), "more");
    }
  }

  return { cancel, stop: () => listener.stop() };
}
