import type { Micros } from "../../kernel/money.ts";
import { addHit, countHits, type LockedKeyMonth, type LockedWallet, untilFree, windowMs } from "../billing/index.ts";
import type { Route } from "./prediction.ts";

/** What one request asks for at admission. */
export interface Arrival {
  userId: string;
  keyId: string;
  modelId: string;
  route: Route;
  reservation: Micros;
  /** What it wants: to run, or only to know whether it would be refused (counted as a request or not). */
  purpose: "run" | "look" | "look_and_count";
}

/** A model as it stands under the lock. */
export interface LockedModel {
  capacity: number;
  retired: boolean;
  running: number;
  waiting: number;
}

export interface LockedState {
  validKeys: ReadonlySet<string>;
  wallets: ReadonlyMap<string, LockedWallet>;
  keyMonths: ReadonlyMap<string, LockedKeyMonth>;
  models: ReadonlyMap<string, LockedModel>;
}

export type Refusal = "key_gone" | "model_retired" | "model_inactive" | "no_funds" | "rate_limit" | "too_many_parallel";
export type Verdict = "run" | "wait" | Refusal;

export interface RateFigures {
  limit: number;
  remaining: number;
  resetSeconds: number;
}

export interface Decision {
  verdict: Verdict;
  /** Undefined where the plan has no limit. */
  rate: RateFigures | undefined;
  retryAfterSeconds: number | undefined;
  countsParallel: boolean;
}

/** With a client connected it counts among the parallel ones from acceptance on; a queued one once it runs. */
const withClient = (route: Route) => route === "sync" || route === "stream";

/**
 * Decides a batch in order of arrival and in the order of refusals: key, model, funds, limits. The state moves along
 * with the decisions, so that the last slot and the last dollar go to the first who asked; nobody overtakes those who
 * already wait for the model. Answers the decisions and the state after them.
 */
export function decideAdmissions(arrivals: readonly Arrival[], before: LockedState, now: number) {
  const wallets = new Map([...before.wallets].map(([id, wallet]) => [id, { ...wallet, hits: [...wallet.hits] }]));
  const keyMonths = new Map([...before.keyMonths].map(([id, month]) => [id, { ...month }]));
  const models = new Map([...before.models].map(([id, model]) => [id, { ...model }]));

  function decide(arrival: Arrival): Decision {
    const wallet = wallets.get(arrival.userId);
    const model = models.get(arrival.modelId);
    const refuse = (verdict: Refusal, retryAfterMs?: number): Decision => ({
      verdict,
      rate: wallet ? figures(wallet, now) : undefined,
      retryAfterSeconds: retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1000)),
      countsParallel: false,
    });
    if (!before.validKeys.has(arrival.keyId) || !wallet) return refuse("key_gone");
    if (!model || model.retired) return refuse("model_retired");
    if (model.capacity === 0) return refuse("model_inactive");
    const month = keyMonths.get(arrival.keyId);
    if (wallet.balance - wallet.reserved < 0 || (month && month.used >= month.limit)) return refuse("no_funds");
    if (wallet.requestsPerMinute !== null && countHits(wallet.hits) >= wallet.requestsPerMinute) {
      return refuse("rate_limit", untilFree(wallet.hits, now, wallet.requestsPerMinute));
    }
    const full = wallet.parallel !== null && wallet.running >= wallet.parallel;
    if (full && withClient(arrival.route)) return refuse("too_many_parallel", 1000);

    if (arrival.purpose !== "look" && wallet.requestsPerMinute !== null) {
      addHit(wallet.hits, now, wallet.requestsPerMinute);
    }
    const accept = (verdict: "run" | "wait", countsParallel: boolean): Decision => ({
      verdict,
      rate: figures(wallet, now),
      retryAfterSeconds: undefined,
      countsParallel,
    });
    if (arrival.purpose !== "run") return accept("run", false);
    wallet.reserved += arrival.reservation;
    if (month) month.used += arrival.reservation;
    const starts = model.waiting === 0 && model.running < model.capacity && withClient(arrival.route);
    if (starts) model.running += 1;
    else model.waiting += 1;
    const countsParallel = withClient(arrival.route);
    if (countsParallel) wallet.running += 1;
    return accept(starts ? "run" : "wait", countsParallel);
  }

  const decisions = arrivals.map(decide);
  return { decisions, after: { wallets, keyMonths, models } };
}

function figures(wallet: LockedWallet, now: number): RateFigures | undefined {
  const limit = wallet.requestsPerMinute;
  if (limit === null) return undefined;
  const oldest = wallet.hits[0];
  return {
    limit,
    remaining: Math.max(0, limit - countHits(wallet.hits)),
    resetSeconds: oldest === undefined ? 0 : Math.max(1, Math.ceil((oldest + windowMs - now) / 1000)),
  };
}
