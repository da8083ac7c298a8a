import type { Telemetry } from "../../../engines/telemetry/telemetry.ts";
import { Fault, fault } from "../../../kernel/errors.ts";
import { sleep } from "../../../kernel/sleep.ts";
import type { Caller } from "../../accounts/index.ts";
import type { Terms } from "../../billing/index.ts";
import type { Model } from "../../models/index.ts";
import { KeyTakenOver } from "../idempotency/idempotency.ts";
import { type ArrivingPrediction, type Decision, type Refusal, type Route, stopReasons } from "../prediction.ts";
import type { PredictionWriter } from "./write-predictions.ts";

export interface RateFigures {
  limit: number;
  remaining: number;
  resetSeconds: number;
}

export interface Admitted {
  /** False if it waits for a slot. */
  starts: boolean;
  rate: RateFigures | undefined;
}

export type Admit = (arrival: ArrivingPrediction) => Promise<Admitted>;

const refusals: Record<
  Exclude<Refusal, "accepted_before">,
  (decision: Decision, arrival: ArrivingPrediction) => Fault
> = {
  key_gone: () => fault("unauthorized", "Invalid API key"),
  model_retired: () => fault("not_found", "Project not found"),
  model_inactive: () => fault("forbidden", "Project is not active"),
  no_funds: () => fault("insufficient_funds", "Insufficient funds"),
  run_lost: () => stopReasons.lost(),
  rate_limit: (decision) =>
    limited("rate_limit", `Too many requests: the plan allows ${decision.rateLimit} a minute`, decision),
  token_limit: (decision, { tokens }) =>
    limited("rate_limit", `Too many tokens: the API key allows ${shown(tokens?.limit)} a minute`, decision),
  too_many_tokens: (_, { tokens }) =>
    fault(
      "value_error",
      `The request may use ${shown(tokens?.reserved)} tokens; the API key allows ${shown(tokens?.limit)} a minute. Send less text, or set a lower limit for the answer.`,
      { loc: ["body"] },
    ),
  too_many_parallel: (decision) =>
    limited("concurrent_requests_limit", "Too many predictions of this account run at once", decision),
};

const windowMs = 60_000;

const shown = (tokens = 0) => tokens.toLocaleString("en-US");

/** Whether the key, its parent or the member of its team has a limit of tokens a minute. */
export function hasTokenLimit({ boundTokensPerMinute }: Pick<Caller, "boundTokensPerMinute">): boolean {
  return boundTokensPerMinute != null;
}

/** What an arrival takes of its key's minute. */
export function tokensOf(
  { boundTokensPerMinute: limit }: Caller,
  { mostTokens = 0 }: Terms,
): ArrivingPrediction["tokens"] {
  return limit == null ? undefined : { reserved: mostTokens, limit };
}

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

function figuresOf({ rateLimit, rateRemaining, rateResetMs }: Decision): RateFigures | undefined {
  if (rateLimit === null) return undefined;
  return { limit: rateLimit, remaining: rateRemaining ?? 0, resetSeconds: secondsOf(rateResetMs ?? 0) };
}

/** Bounded, because a decision may see a request that is a moment younger than its own clock. */
function secondsOf(milliseconds: number): number {
  return Math.ceil(Math.min(milliseconds, windowMs) / 1000);
}

/** Resolves after the commit that admitted the prediction. Rejects if it was refused. */
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
    if (verdict === "accepted_before") throw new KeyTakenOver();
    const refusal = refusals[verdict](decision, arrival);
    telemetry.admissionRefused(refusal.type);
    throw refusal;
  };
}

/** Tokens of other calls may be free earlier than announced, because these end. */
const longestPauseSeconds = 5;

/** Model calls of runs wait until their tokens fit into the key's minute. Rejects if the signal is aborted first. */
export async function admitCall(admit: Admit, arrival: ArrivingPrediction, signal: AbortSignal): Promise<Admitted> {
  for (;;) {
    try {
      return await admit(arrival);
    } catch (error) {
      if (!(error instanceof Fault) || error.type !== "rate_limit") throw error;
      await sleep(Math.min(error.retryAfterSeconds ?? 1, longestPauseSeconds) * 1000, signal);
    }
  }
}

export interface LookRequest {
  caller: Caller;
  model: Model;
  route: Route;
  /** Whether the check counts as a request of the last minute. */
  counts: boolean;
}

/** Rejects as admission would, but admits nothing. */
export async function lookAtLimits(admit: Admit, request: LookRequest): Promise<RateFigures | undefined> {
  return (await admit(lookOf(request))).rate;
}

/** Reads the limit without counting a request or refusing one. */
export async function readRate(
  decide: PredictionWriter["decide"],
  request: Omit<LookRequest, "counts">,
): Promise<RateFigures | undefined> {
  return figuresOf(await decide(lookOf({ ...request, counts: false })));
}

function lookOf({ caller, model, route, counts }: LookRequest): ArrivingPrediction {
  return {
    id: "",
    userId: caller.userId,
    keyId: caller.keyId,
    modelId: model.id,
    modelName: model.endpointId,
    route,
    highPriority: false,
    reservation: 0,
    queueSeconds: 0,
    purpose: counts ? "look_and_count" : "look",
  };
}

/**
 * Reads the input of a prediction. Refusals for funds and limits precede those for wrong input, but admission comes after
 * reading. So invalid input checks the limits first, and counts as a request.
 */
export async function countWrongInput<T>(
  look: (request: LookRequest) => Promise<RateFigures | undefined>,
  asked: Omit<LookRequest, "counts">,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Fault && error.status === 422) {
      Object.assign(error.headers, rateHeaders(await look({ ...asked, counts: true })));
    }
    throw error;
  }
}
