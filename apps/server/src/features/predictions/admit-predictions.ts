import type { Telemetry } from "../../engines/telemetry/telemetry.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { Micros } from "../../kernel/money.ts";
import { stopReasons } from "./held-predictions.ts";
import type { Route } from "./prediction.ts";
import type { Decision, Refusal } from "./store.ts";
import type { PredictionWriter } from "./write-predictions.ts";

export interface ArrivingPrediction {
  id: string;
  userId: string;
  keyId: string;
  modelId: string;
  modelName: string;
  route: Route;
  highPriority: boolean;
  /** The run whose next model call it is. */
  runId?: string | undefined;
  reservation: Micros;
  /** Its payer has not seen it coming: it does not go below zero by its reservation, nor beyond the key's month. */
  mustBeCovered?: boolean;
  /** Its user is not the owner of its key, and pays for what that key's run calls. */
  sponsored?: boolean;
  queueSeconds: number;
  queued?: QueuedInput | undefined;
  /** Of a queued one: this node has a hand free for it, and runs it if it starts. */
  handFree?: boolean;
  /** To run, or only to know whether it would be refused (counted as a request or not). */
  purpose: "run" | "look" | "look_and_count";
  /**
   * Its client waits for it here and no repeat asks for it: if the database's machine dies before it is on the disk, it
   * has never been. Its end is not written then, and its client is told so.
   */
  mayBeLost?: boolean;
}

/** What a worker needs to run a queued one later; the first three are JSON texts. */
export interface QueuedInput {
  input: string;
  pricing: string;
  bounds: string;
  baseUrl: string;
  webhookDestination?: string;
  /** Sealed, as base64. */
  webhookTarget?: string;
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

/** Admission: what arrives within the same few milliseconds is decided and written with one commit, and answered after it. */
export function createAdmission({
  writer,
  telemetry,
}: {
  writer: Pick<PredictionWriter, "decide">;
  telemetry: Telemetry;
}): Admit {
  return async (arrival) => {
    const decision = await writer.decide(arrival);
    const { verdict } = decision;
    if (verdict === "run" || verdict === "wait") return { starts: verdict === "run", rate: figuresOf(decision) };
    const refusal = refusals[verdict](decision);
    telemetry.admissionRefused(refusal.type);
    throw refusal;
  };
}
