import type { Cron } from "../../engines/cron/cron.ts";
import type { Database } from "../../engines/database/database.ts";
import type { Telemetry } from "../../engines/telemetry/telemetry.ts";
import { Fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Accounts } from "../accounts/index.ts";
import type { Runs } from "../runs/index.ts";
import { type DueDecision, decideDue, mostQueued, overlapReason } from "./due.rules.ts";
import { judgeRefusal, keyStopped } from "./refusal.rules.ts";
import { runBodyOf, sequenceOf } from "./schedule.ts";
import {
  advanceWithoutRun,
  advanceWithRun,
  type ClaimedSchedule,
  countLiveRuns,
  lookAgain,
  pauseSchedule,
} from "./store.ts";

export interface DueDeps {
  database: Database;
  cron: Cron;
  runs: Pick<Runs, "create">;
  accounts: Pick<Accounts, "callerOfKey">;
  telemetry: Pick<Telemetry, "inTrace">;
  log: Log;
}

/** Undoes a run whose due time another node, or its user, has handled meanwhile. */
class LostClaim extends Error {}

/** Undoes a run because others of its schedule have been started since the claim. Its message is the reason. */
class Overlap extends Error {}

/**
 * Handles one claimed due time. Only the transaction that moves the schedule on stores a run, so a due time has one run
 * even if two nodes handle it. If this process dies before, the claim ends and another node handles the same due time.
 */
export async function workOnDue(deps: DueDeps, claimed: ClaimedSchedule): Promise<void> {
  const { database, cron } = deps;
  const decision = decideDue(claimed, claimed.now, cron);
  if (decision.kind === "run") return createRun(deps, claimed, decision);
  const { upcoming } = decision;
  const skipped =
    decision.kind === "skip" ? { at: decision.skippedAt, reason: decision.reason, isRefusal: false } : undefined;
  await advanceWithoutRun(database.sql, claimed, { upcoming, skipped });
}

async function createRun(
  deps: DueDeps,
  claimed: ClaimedSchedule,
  { dueAt, upcoming }: DueDecision & { kind: "run" },
): Promise<void> {
  const { database, runs, accounts, telemetry, log } = deps;
  const caller = await accounts.callerOfKey(claimed.keyId);
  // A key never moves to another user.
  if (!caller || caller.userId !== claimed.userId) return pause(deps, claimed, keyStopped, dueAt);
  const create = () =>
    runs.create({
      caller,
      address: { agentId: claimed.agentId },
      body: runBodyOf(claimed),
      idempotencyKey: undefined,
      baseUrl: claimed.baseUrl,
      source: {
        id: claimed.id,
        sequence: sequenceOf(claimed.id, claimed),
        async within(tx, runId) {
          if (!(await advanceWithRun(tx, claimed, { dueAt, runId, upcoming }))) throw new LostClaim();
          const liveRuns = await countLiveRuns(tx, claimed.id, mostQueued);
          const reason = overlapReason({ ...claimed, liveRuns });
          if (reason !== undefined) throw new Overlap(reason);
        },
      },
    });
  try {
    const attributes = { "gantry.schedule_id": claimed.id };
    await telemetry.inTrace(() => ({ name: "schedule", kind: "producer", attributes }), create);
  } catch (error) {
    if (error instanceof LostClaim) return;
    if (error instanceof Overlap) {
      const skipped = { at: dueAt, reason: error.message, isRefusal: false };
      return advanceWithoutRun(database.sql, claimed, { upcoming, skipped });
    }
    if (!(error instanceof Fault))
      log.error({ err: error, schedule_id: claimed.id }, "Failed to create a scheduled run.");
    const { tries, refusals } = claimed;
    const verdict = judgeRefusal(error, { tries, refusals, random: Math.random() });
    if (verdict.kind === "retry") return lookAgain(database.sql, claimed, verdict.delayMs);
    if (verdict.kind === "pause") return pause(deps, claimed, verdict.reason, dueAt);
    const skipped = { at: dueAt, reason: verdict.reason, isRefusal: true };
    await advanceWithoutRun(database.sql, claimed, { upcoming, skipped });
  }
}

async function pause(
  { database, log }: DueDeps,
  claimed: ClaimedSchedule,
  reason: string,
  skippedAt: Date,
): Promise<void> {
  if (!(await pauseSchedule(database.sql, claimed, { reason, skippedAt }))) return;
  log.info({ schedule_id: claimed.id, user_id: claimed.userId }, `Paused a schedule. ${reason}`);
}
