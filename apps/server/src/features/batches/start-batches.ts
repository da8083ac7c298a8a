import { createClaimLoop } from "../../kernel/claim-loop.ts";
import { isUnavailable } from "../../kernel/errors.ts";
import { repeat } from "../../kernel/repeat.ts";
import type { ClaimedBatch } from "./batch.ts";
import { claimBatch, releaseClaim, renewClaim } from "./claim-store.ts";
import { type BatchesDeps, LostClaim, leaseMs } from "./context.ts";
import { workOnBatch } from "./work-on-batch.ts";

export interface BatchWorker {
  /** Claims nothing more, and returns the batches under way to other nodes. */
  stop(): Promise<void>;
}

/** Batches that a node works on at once. They mostly wait. */
const atOnce = 8;
/** Over all nodes, so that a user with many batches leaves room for others. */
const mostOfUser = 4;
/** After its turn a batch lets another one go first. */
const turnMs = 30_000;
const lookEveryMs = 1_000;
const renewEveryMs = leaseMs / 4;
const pauseAfterFailureMs = 5_000;
const shuttingDown = new Error("The server is shutting down");

/** Works on batches. Any number of nodes may do it: each batch has one claim. */
export function startBatches(deps: BatchesDeps): BatchWorker {
  const { database, log } = deps;
  const { sql } = database;
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();

  const claims = createClaimLoop<ClaimedBatch>({
    freeSlots: () => atOnce - underWay.size,
    atOnce: 1,
    async claim() {
      const batch = await claimBatch(sql, { leaseMs, mostOfUser });
      return batch ? [batch] : [];
    },
    begin(batch) {
      const work = workOn(batch).finally(() => underWay.delete(work));
      underWay.add(work);
    },
  });

  async function workOn(batch: ClaimedBatch): Promise<void> {
    const lost = new AbortController();
    const signal = AbortSignal.any([stopping.signal, lost.signal]);
    const lose = () => lost.abort(new LostClaim());
    let lease = setTimeout(lose, leaseMs);
    const renewing = repeat(
      async () => {
        const askedAt = performance.now();
        if (!(await renewClaim(sql, batch, leaseMs))) return lose();
        clearTimeout(lease);
        lease = setTimeout(lose, leaseMs - (performance.now() - askedAt));
      },
      renewEveryMs,
      // The next pass tries again, until the lease is over and another node may have the batch.
      () => {},
    );
    let pauseMs = 0;
    try {
      pauseMs = await workOnBatch(deps, batch, { turnMs, signal });
    } catch (error) {
      if (error instanceof LostClaim) return;
      if (error !== shuttingDown) {
        pauseMs = pauseAfterFailureMs;
        if (!isUnavailable(error))
          log.warn({ err: error, batch_id: batch.id }, "Working on a batch failed. Trying again.");
      }
    } finally {
      await renewing.stop();
      clearTimeout(lease);
    }
    // If this fails, the claim ends with its lease.
    await releaseClaim(sql, batch, pauseMs).catch(() => {});
  }

  const looking = repeat(claims.look, lookEveryMs, (error) => {
    if (!isUnavailable(error)) log.warn({ err: error }, "Claiming batches failed. Trying again.");
  });

  return {
    async stop() {
      await Promise.all([claims.stop(), looking.stop()]);
      stopping.abort(shuttingDown);
      await Promise.all(underWay);
    },
  };
}
