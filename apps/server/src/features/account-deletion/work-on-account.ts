import type { Database } from "../../engines/database/database.ts";
import { announceChange } from "../accounts/index.ts";
import { emptyWallet } from "../billing/index.ts";
import { retireModelsOf } from "../models/index.ts";
import type { ClaimedAccount, DeletionDeps } from "./account.ts";
import { applyRules } from "./apply-rules.ts";
import { cancelWork } from "./cancel-work.ts";
import { forgetName, keepDisabled, lockClaim } from "./deletion-store.ts";
import { isBusy } from "./work-store.ts";

const waitMs = 1_000;
/** Then rows go that slow requests have written since. */
const lastLookMs = 86_400_000;

/**
 * Works on the deletion of an account. Each step can be repeated, so another node continues at any point. Returns when the
 * next step is due; null: never.
 *
 *     cancel own work ──► wait for work of others ──► retire models, look again ──► delete by the rules
 *           ▲                        │                          │                             │
 *           └────────────────────────┴──────────────────────────┘                             ▼
 *     delete by the rules once more ◄── a day later ◄── close the wallet, forget the name
 */
export async function workOnAccount(
  deps: DeletionDeps,
  account: ClaimedAccount,
  signal: AbortSignal,
): Promise<number | null> {
  const { sql } = deps.database;
  if (account.isFinished) {
    await applyRules(deps, account, signal);
    return null;
  }
  await keepDisabled(sql, account);
  await cancelWork(deps, account.userId);
  if (!account.isSettled || (await isBusy(sql, account.userId))) return waitMs;
  // Runs of others use the models until they end. What was accepted before this is seen by the next look.
  if ((await retireModelsOf(sql, account.userId)) > 0) return waitMs;
  await applyRules(deps, account, signal);
  return (await finish(deps.database, account)) ? lastLookMs : waitMs;
}

async function finish(database: Database, account: ClaimedAccount): Promise<boolean> {
  const { userId } = account;
  return database.transaction(async (tx) => {
    if (!(await lockClaim(tx, account)) || (await isBusy(tx, userId))) return false;
    await emptyWallet(tx, userId, { reason: "Account deleted", reference: `deletion:${userId}` });
    await forgetName(tx, account);
    await announceChange(tx, userId);
    return true;
  });
}
