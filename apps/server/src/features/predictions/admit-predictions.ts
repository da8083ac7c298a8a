import type { Database } from "../../engines/database/database.ts";
import type { Telemetry } from "../../engines/telemetry/telemetry.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import type { Clock } from "../../kernel/clock.ts";
import { Fault, fault } from "../../kernel/errors.ts";
import type { Micros } from "../../kernel/money.ts";
import { stopReasons } from "./held-predictions.ts";
import type { Route } from "./prediction.ts";
import { admitArrivals, type Decision, type Refusal } from "./store.ts";
import type { QueuedInput } from "./tally-arrivals.rules.ts";
import type { PredictionWriter } from "./write-predictions.ts";

export interface ArrivingPrediction {
  id: string;
  userId: string;
  keyId: string;
  modelId: string;
  modelName: string;
  route: Route;
  highPriority: boolean;
  /** Null for a queued one. */
  holder: string | null;
  /** The run whose next model call it is. */
  runId?: string | undefined;
  reservation: Micros;
  /** Its payer has not seen it coming: it does not go below zero by its reservation, nor beyond the key's month. */
  mustBeCovered?: boolean;
  /** Its user is not the owner of its key, and pays for what that key's run calls. */
  sponsored?: boolean;
  queueSeconds: number;
  queued?: QueuedInput;
  /** Of a queued one: this node has a hand free for it, and runs it if it starts. */
  handFree?: boolean;
  /** To run, or only to know whether it would be refused (counted as a request or not). */
  purpose: "run" | "look" | "look_and_count";
}

/** What the plan's limit still allows. */
export interface RateFigures {
  limit: number;
  remaining: number;
  resetSeconds: number;
}

export interface Admitted {
  /** False: it waits for capacity. */
  starts: boolean;
  /** Undefined where the plan has no limit. */
  rate: RateFigures | undefined;
}

export type Admit = (arrival: ArrivingPrediction) => Promise<Admitted>;

const refusals: Record<Refusal, (decision: Decision) => Fault> = {
  key_gone: () => fault("unauthorized", "Invalid API key"),
  model_retired: () => fault("not_found", "Project not found"),
  model_inactive: () => fault("forbidden", "Project is not active"),
  no_funds: () => fault("insufficient_funds", "Insufficient funds"),
  run_lost: () => stopReasons.lost(),
  rate_limit: (decision) =>
    limited("rate_limit", `Too many requests: the plan allows ${decision.rateLimit} a minute`, decision),
  too_many_parallel: (decision) =>
    limited("concurrent_requests_limit", "Too many predictions of this account run at once", decision),
};

const windowMs = 60_000;

function limited(type: "rate_limit" | "concurrent_requests_limit", msg: string, decision: Decision): Fault {
  return fault(type, msg, {
    retryAfterSeconds: secondsOf(decision.retryAfterMs ?? 1000),
    headers: rateHeaders(figuresOf(decision)),
  });
}

export function rateHeaders(rate: RateFigures | undefined): Record<string, string> {
  if (!rate) return {};
  return {
    "x-ratelimit-limit": String(rate.limit),
    "x-ratelimit-remaining": String(rate.remaining),
    "x-ratelimit-reset": String(rate.resetSeconds),
  };
}

export function figuresOf({ rateLimit, rateRemaining, rateResetMs }: Decision): RateFigures | undefined {
  if (rateLimit === null) return undefined;
  return { limit: rateLimit, remaining: rateRemaining ?? 0, resetSeconds: secondsOf(rateResetMs ?? 0) };
}

/** Whole ones. Who read the clock before waiting for the lock may see a hit that is younger than its own moment. */
function secondsOf(milliseconds: number): number {
  return Math.ceil(Math.min(milliseconds, windowMs) / 1000);
}

/** Places of values in a list without repeats, counted from 1 as SQL does. */
class Places {
  readonly values: string[] = [];
  readonly #places = new Map<string, number>();

  of(value: string): number {
    let place = this.#places.get(value);
    if (place === undefined) {
      place = this.values.push(value);
      this.#places.set(value, place);
    }
    return place;
  }
}

/**
 * Decides about arrivals one by one, those of the same few milliseconds under one lock and with one commit. What is
 * decided, and in which order, stands in migrations/0020, 0042 and 0046.
 */
export function createDecisions(
  database: Database,
  clock: Clock,
  telemetry: Telemetry,
): (arrival: ArrivingPrediction) => Promise<Decision> {
  async function admitBatch(batch: readonly ArrivingPrediction[]): Promise<Decision[]> {
    const now = clock.now();
    const startedAt = performance.now();
    const users = new Places();
    const keys = new Places();
    const models = new Places();
    const arrivals = batch.map((one, index) => ({
      n: index + 1,
      id: one.id,
      u: users.of(one.userId),
      k: keys.of(one.keyId),
      m: models.of(one.modelId),
      model_name: one.modelName,
      route: one.route,
      high_priority: one.highPriority,
      holder: one.holder,
      ...(one.runId !== undefined && { run: one.runId }),
      reservation: one.reservation,
      ...(one.mustBeCovered && { must_be_covered: true }),
      ...(one.sponsored && { sponsored: true }),
      purpose: one.purpose,
      queue_seconds: one.queueSeconds,
      ...one.queued,
    }));
    const decisions = await admitArrivals(database.sql, {
      users: users.values,
      keys: keys.values,
      models: models.values,
      arrivals,
      month: `${now.toISOString().slice(0, 7)}-01`,
    });
    telemetry.batchWritten("admission", batch.length, performance.now() - startedAt);
    return decisions;
  }

  const batcher = createBatcher({
    run: admitBatch,
    maxItems: 512,
    // A lost database concerns everybody; anything else may be the fault of one row.
    blameItem: (error) => !(error instanceof Fault),
  });

  return batcher.add;
}

/**
 * Admission: all requests that arrive within the same few milliseconds are decided under one lock and written with one
 * commit; the answer comes after it. Those that this node holds share statement and commit with what ends meanwhile.
 */
export function createAdmission({
  writer,
  decideOneByOne,
  telemetry,
}: {
  writer: Pick<PredictionWriter<ArrivingPrediction>, "admit">;
  decideOneByOne(arrival: ArrivingPrediction): Promise<Decision>;
  telemetry: Telemetry;
}): Admit {
  function admitted(decision: Decision): Admitted {
    if (decision.verdict === "run" || decision.verdict === "wait") {
      return { starts: decision.verdict === "run", rate: figuresOf(decision) };
    }
    const refusal = refusals[decision.verdict](decision);
    telemetry.admissionRefused(refusal.type);
    throw refusal;
  }

  // The batches know only users who pay for their own keys.
  const isPlain = ({ purpose, sponsored }: ArrivingPrediction) => purpose === "run" && !sponsored;
  return (arrival) => (isPlain(arrival) ? writer.admit(arrival) : decideOneByOne(arrival)).then(admitted);
}
