import { createClaimLoop } from "../../kernel/claim-loop.ts";
import { isUnavailable } from "../../kernel/errors.ts";
import { repeat } from "../../kernel/repeat.ts";
import type { ClaimedAccount, DeletionDeps } from "./account.ts";
import { claimAccount, releaseClaim, renewClaim } from "./deletion-store.ts";
import { workOnAccount } from "./work-on-account.ts";

/** Accounts that a node works on at once, so that a large one does not delay the others. */
const atOnce = 4;
const lookEveryMs = 1_000;
const leaseMs = 30_000;
const renewEveryMs = leaseMs / 4;
const pauseAfterFailureMs = 10_000;
const lostClaim = new Error("Another node works on the account");
const shuttingDown = new Error("The server is shutting down");

/** Deletes accounts. Any number of nodes may do it: each account has one claim. */
export function startDeletions(deps: DeletionDeps): { stop(): Promise<void> } {
  const { log } = deps;
  const { sql } = deps.database;
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();
  /** Accounts whose last attempt failed here. */
  const failed = new Set<string>();

  const claims = createClaimLoop<ClaimedAccount>({
    freeSlots: () => atOnce - underWay.size,
    atOnce: 1,
    async claim() {
      const account = await claimAccount(sql, leaseMs);
      return account ? [account] : [];
    },
    begin(account) {
      const work = workOn(account).finally(() => underWay.delete(work));
      underWay.add(work);
    },
  });

  async function workOn(account: ClaimedAccount): Promise<void> {
    const lost = new AbortController();
    const signal = AbortSignal.any([stopping.signal, lost.signal]);
    const renewing = repeat(
      async () => {
        if (!(await renewClaim(sql, account, leaseMs))) lost.abort(lostClaim);
      },
      renewEveryMs,
      () => {},
    );
    let dueInMs: number | null = 0;
    try {
      dueInMs = await workOnAccount(deps, account, signal);
      failed.delete(account.userId);
    } catch (error) {
      if (error === lostClaim) return;
      if (error !== shuttingDown) {
        dueInMs = pauseAfterFailureMs;
        // A query beyond its deadline looks like an outage, and would fail each time.
        if (!isUnavailable(error) || failed.has(account.userId))
          log.warn({ err: error, user_id: account.userId }, "Deleting an account failed. Trying again.");
        failed.add(account.userId);
      }
    } finally {
      await renewing.stop();
    }
    // If this fails, the claim ends with its lease.
    await releaseClaim(sql, account, dueInMs).catch(() => {});
  }

  const looking = repeat(claims.look, lookEveryMs, (error) => {
    if (!isUnavailable(error)) log.warn({ err: error }, "Claiming accounts to delete failed. Trying again.");
  });

  return {
    async stop() {
      await Promise.all([claims.stop(), looking.stop()]);
      stopping.abort(shuttingDown);
      await Promise.all(underWay);
    },
  };
}
