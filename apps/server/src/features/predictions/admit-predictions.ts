import type { Database, Transaction } from "../../engines/database/database.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import type { Clock } from "../../kernel/clock.ts";
import { Fault, fault } from "../../kernel/errors.ts";
import type { Micros } from "../../kernel/money.ts";
import { type LockedFunds, lockFunds, reserveFunds } from "../billing/index.ts";
import { type Decision, decideAdmissions, type RateFigures, type Refusal } from "./admit.rules.ts";
import type { Route } from "./prediction.ts";
import { ensureSlots, insertAdmitted, lockModels, type NewPrediction, selectValidKeys } from "./store.ts";

export interface ArrivingPrediction {
  id: string;
  userId: string;
  keyId: string;
  /** Whether the key has a monthly limit. */
  keyIsLimited: boolean;
  modelId: string;
  modelName: string;
  route: Route;
  highPriority: boolean;
  holder: string;
  reservation: Micros;
  purpose: "run" | "look" | "look_and_count";
}

export interface Admitted {
  starts: boolean;
  /** What the plan's limit still allows; undefined where there is none. */
  rate: RateFigures | undefined;
}

export type Admit = (arrival: ArrivingPrediction) => Promise<Admitted>;

const refusals: Record<Refusal, (decision: Decision) => Fault> = {
  key_gone: () => fault("unauthorized", "Invalid API key"),
  model_retired: () => fault("not_found", "Project not found"),
  model_inactive: () => fault("forbidden", "Project is not active"),
  no_funds: () => fault("insufficient_funds", "Insufficient funds"),
  rate_limit: (decision) =>
    fault("rate_limit", `Too many requests: the plan allows ${decision.rate?.limit} a minute`, {
      retryAfterSeconds: decision.retryAfterSeconds ?? 1,
      headers: rateHeaders(decision.rate),
    }),
  too_many_parallel: (decision) =>
    fault("concurrent_requests_limit", "Too many predictions of this account run at once", {
      retryAfterSeconds: decision.retryAfterSeconds ?? 1,
      headers: rateHeaders(decision.rate),
    }),
};

export function rateHeaders(rate: RateFigures | undefined): Record<string, string> {
  if (!rate) return {};
  return {
    "x-ratelimit-limit": String(rate.limit),
    "x-ratelimit-remaining": String(rate.remaining),
    "x-ratelimit-reset": String(rate.resetSeconds),
  };
}

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

/**
 * Admission: all requests that arrive within the same few milliseconds are decided under one lock and written with one
 * commit; the answer comes after it. Rows are locked in one order everywhere (user, key, model), or two batches could
 * wait for each other.
 */
export function createAdmission(database: Database, clock: Clock): Admit {
  async function lockState(tx: Transaction, arrivals: readonly ArrivingPrediction[], now: Date) {
    const modelIds = unique(arrivals.map((one) => one.modelId));
    const limitedKeys = unique(arrivals.filter((one) => one.keyIsLimited).map((one) => one.keyId));
    const [funds, validKeys, models] = await Promise.all([
      lockFunds(tx, now, unique(arrivals.map((one) => one.userId)), limitedKeys),
      selectValidKeys(tx, unique(arrivals.map((one) => one.keyId))),
      lockModels(tx, modelIds),
    ]);
    if (models.size === modelIds.length) return { funds, validKeys, models };
    await ensureSlots(tx, modelIds);
    return { funds, validKeys, models: await lockModels(tx, modelIds) };
  }

  async function admitBatch(arrivals: readonly ArrivingPrediction[]): Promise<Decision[]> {
    return database.transaction(async (tx) => {
      const now = clock.now();
      const { funds, validKeys, models } = await lockState(tx, arrivals, now);
      const state = { validKeys, models, wallets: funds.wallets, keyMonths: funds.keyMonths };
      const { decisions, after } = decideAdmissions(arrivals, state, now.getTime());
      const admitted = arrivals.flatMap((arrival, index): NewPrediction[] => {
        const decision = decisions[index];
        if (arrival.purpose !== "run" || (decision?.verdict !== "run" && decision?.verdict !== "wait")) return [];
        const keyMonth = funds.keyMonths.has(arrival.keyId) ? funds.month : null;
        return [{ ...arrival, starts: decision.verdict === "run", countsParallel: decision.countsParallel, keyMonth }];
      });
      await Promise.all([
        admitted.length > 0 ? insertAdmitted(tx, admitted) : undefined,
        writeFunds(tx, funds, after),
      ]);
      return decisions;
    });
  }

  const batcher = createBatcher({
    run: admitBatch,
    maxItems: 512,
    // A lost database concerns everybody; anything else may be the fault of one row.
    blameItem: (error) => !(error instanceof Fault),
  });

  return async (arrival) => {
    const decision = await batcher.add(arrival);
    if (decision.verdict === "run" || decision.verdict === "wait") {
      return { starts: decision.verdict === "run", rate: decision.rate };
    }
    throw refusals[decision.verdict](decision);
  };
}

/** Writes what the decisions changed, and only that. */
async function writeFunds(
  tx: Transaction,
  before: LockedFunds,
  after: Pick<LockedFunds, "wallets" | "keyMonths">,
): Promise<void> {
  const wallets = [...after.wallets].flatMap(([userId, wallet]) => {
    const old = before.wallets.get(userId);
    if (!old) return [];
    const hits = wallet.requestsPerMinute !== null && wallet.hits.at(-1) !== undefined ? wallet.hits : undefined;
    const change = { userId, running: wallet.running - old.running, reserved: wallet.reserved - old.reserved, hits };
    return change.running === 0 && change.reserved === 0 && !hits ? [] : [change];
  });
  const keys = [...after.keyMonths].flatMap(([keyId, month]) => {
    const reserved = month.used - (before.keyMonths.get(keyId)?.used ?? 0);
    return reserved === 0 ? [] : [{ keyId, reserved }];
  });
  if (wallets.length > 0 || keys.length > 0) await reserveFunds(tx, before.month, wallets, keys);
}
