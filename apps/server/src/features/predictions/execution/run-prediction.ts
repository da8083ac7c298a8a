import { type Door, newId } from "@gantry/wire";
import type { Database } from "../../../engines/database/database.ts";
import { createDeadlines, type Timed } from "../../../kernel/deadlines.ts";
import { type Fault, fault } from "../../../kernel/errors.ts";
import type { Micros } from "../../../kernel/money.ts";
import type { Caller } from "../../accounts/index.ts";
import { reservationOf, type Terms } from "../../billing/index.ts";
import type { Model } from "../../models/index.ts";
import {
  type Admit,
  type Admitted,
  admitCall,
  hasTokenLimit,
  type RateFigures,
  tokensOf,
} from "../admission/admit-predictions.ts";
import { termsFor } from "../admission/reserve.ts";
import type { CheckedInput } from "../input/index.ts";
import { keptFields, keptOf, keptText, type RequestOrigin } from "../kept/kept-input.rules.ts";
import { type ArrivingPrediction, endedUnused, type Outcome } from "../prediction.ts";
import { Fragments } from "../result/fragments.ts";
import type { Settlement } from "../result/settle-predictions.ts";
import { type Execution, type ExecutionDeps, executePrediction } from "./execute-prediction.ts";
import type { LivePrediction, LivePredictions } from "./live-predictions.ts";

export interface RunDeps extends ExecutionDeps {
  database: Pick<Database, "sql">;
  nodeId: string;
  live: LivePredictions;
  admit: Admit;
  countTokens(text: string): Promise<number>;
  /** Counts samples of a long text. */
  estimateTokens(text: string): Promise<number>;
  settlement: Settlement;
  /** Whether this server keeps inputs with results. */
  keepsInputs: boolean;
  /** Starts waiting model calls of this node's runs, if slots are free. */
  startAgentCalls(): Promise<void>;
}

export interface RunRequest {
  /** Set if the id was promised before, for example under an Idempotency-Key. */
  predictionId?: string | undefined;
  caller: Caller;
  model: Model;
  /** `agent`: a call of a run. It waits in the queue instead of being refused at the user's parallel limit. */
  route: "sync" | "stream" | "agent";
  /** The run whose next model call this is. Admitted only while this node works on that run. */
  runId?: string | undefined;
  door?: Door | undefined;
  /** The payer did not ask for it: admitted only if the balance covers the whole reservation. */
  mustBeCovered?: boolean;
  /** The user who pays instead of the caller, and must cover the whole reservation. Only for the route `agent`. */
  sponsorId?: string | undefined;
  input: Pick<CheckedInput, "input" | "user">;
  /** Undefined for calls of runs: the run shows what they were asked. */
  origin?: RequestOrigin | undefined;
  /** The input as it is kept, if `input` is not what was sent. */
  toKeep?: () => Record<string, unknown>;
  /** Called before admission, so that a client that leaves during admission stops the prediction. */
  onLive(live: LivePrediction): void;
  /** Called once it is accepted, even if it waits for a slot. */
  onAccepted?(predictionId: string, rate: RateFigures | undefined): void;
  onFragment?(field: string, text: string): void | Promise<void>;
  /** Set if the input does not determine the reservation. */
  terms?: Terms;
  inputTokens?: number;
  /** For runs with a cost limit: the most that this call may reserve. */
  setAside?: Micros | undefined;
  /** Calls another method of the driver than `run`. */
  perform?: Execution["perform"];
}

export interface RunEnd {
  predictionId: string;
  outcome: Outcome;
}

/** How long a client waits for the result to be stored while the database is away. */
const settleWaits = createDeadlines(10_000);
/** Predictions with a connected client run once. */
const onlyClaim = 1;
const longestTimerMs = 2 ** 31 - 1;

/**
 * The path of a prediction whose client is connected to this node: admit, wait for a slot, execute, settle. Rejects if the
 * prediction was not accepted or its end was not written.
 */
export async function runPrediction(deps: RunDeps, request: RunRequest): Promise<RunEnd> {
  const id = request.predictionId ?? newId("prediction");
  const live = deps.live.add(id);
  let admitted: Admitted;
  let terms: Terms;
  try {
    request.onLive(live);
    deps.telemetry.concerns(id, request.route);
    terms = request.terms ?? (await termsOfRequest(deps, request));
    const reservation = reservationOf(terms);
    if (reservation > (request.setAside ?? Number.POSITIVE_INFINITY)) throw dearerThanSetAside();
    const arrival: ArrivingPrediction = {
      id,
      userId: request.sponsorId ?? request.caller.userId,
      keyId: request.caller.keyId,
      modelId: request.model.id,
      modelName: request.model.endpointId,
      route: request.route,
      highPriority: request.input.user?.high_priority ?? false,
      runId: request.runId,
      door: request.door,
      reservation,
      tokens: request.sponsorId === undefined ? tokensOf(request.caller, terms) : undefined,
      ...(request.mustBeCovered && { mustBeCovered: true }),
      ...(request.sponsorId !== undefined && { sponsored: true }),
      purpose: "run",
      queueSeconds: request.model.manifest.max_queue_seconds,
      mayBeLost: request.predictionId === undefined,
    };
    admitted = await deps.telemetry.inSpan(
      () => ({ name: "admission" }),
      () => (request.route === "agent" ? admitCall(deps.admit, arrival, live.signal) : deps.admit(arrival)),
    );
  } catch (error) {
    live.release();
    throw error;
  }
  live.accepted(onlyClaim);
  request.onAccepted?.(id, admitted.rate);
  const unstarted = admitted.starts ? undefined : await waitForSlot(deps, live, request);
  const outcome = unstarted ?? (await execute(deps, live, request, terms));
  // Followers wait for a notification, and a failure keeps its transcript.
  const hasMore = live.isFollowed || (outcome.kind === "failed" && outcome.unsentFragments !== undefined);
  const settling = deps.settlement.settle(id, onlyClaim, outcome, hasMore ? "more" : "row", keptWith(deps, request));
  const release = () => live.release();
  settling.then(release, release);
  // Agent runs wait without a limit: after a false failure the run would repeat, and pay for, the same call.
  const isWritten = await (request.route === "agent" ? settling : withinTime(id, settling));
  // Failures may be returned unwritten. A result that was not written was not charged.
  if (!isWritten && outcome.kind === "done") throw request.predictionId === undefined ? lost() : endedElsewhere();
  return { predictionId: id, outcome };
}

function termsOfRequest({ countTokens }: Pick<RunDeps, "countTokens">, { caller, model, input }: RunRequest) {
  return termsFor(model.manifest, input.input, countTokens, hasTokenLimit(caller));
}

function keptWith(deps: Pick<RunDeps, "keepsInputs" | "telemetry">, request: RunRequest): string | undefined {
  const { origin } = request;
  const keeps = origin && keepsInput(deps, request, origin);
  return origin && keptText(keptOf(origin.id, keeps ? toKeepOf(request) : undefined, deps.telemetry.traceId()));
}

function toKeepOf({ input, toKeep }: RunRequest): () => Record<string, unknown> {
  return toKeep ?? (() => keptFields(input.input));
}

/** Whatever says no wins: the server, the key, the model or the request. */
export function keepsInput(
  { keepsInputs }: Pick<RunDeps, "keepsInputs">,
  { caller, model }: Pick<RunRequest, "caller" | "model">,
  origin: RequestOrigin | undefined,
): boolean {
  return keepsInputs && caller.keepsInputs && model.manifest.keep_inputs !== false && (origin?.keepsInput ?? true);
}

/** Resolves with undefined once it may start, or with the outcome if it was stopped first. */
async function waitForSlot(
  deps: RunDeps,
  live: LivePrediction,
  { model, route }: RunRequest,
): Promise<Outcome | undefined> {
  const limitMs = Math.min(model.manifest.max_queue_seconds * 1000, longestTimerMs);
  const limit = setTimeout(() => live.stop("queueTimeout"), limitMs);
  const startedAt = performance.now();
  try {
    const slot = live.slot();
    // Predictions before it may wait for limits of their own. No notification reports the free slot then.
    if (route === "agent") void deps.startAgentCalls();
    await deps.telemetry.inSpan(
      () => ({ name: "wait for capacity" }),
      () => slot,
    );
    return undefined;
  } catch (reason) {
    return endedUnused(reason as Fault);
  } finally {
    clearTimeout(limit);
    deps.telemetry.slotAwaited(route, performance.now() - startedAt);
  }
}

function execute(deps: RunDeps, live: LivePrediction, request: RunRequest, terms: Terms): Promise<Outcome> {
  const { caller, model, input, inputTokens, route, onFragment, perform, runId } = request;
  const execution: Execution = {
    ...{ live, userId: caller.userId, model, terms, input: input.input, inputTokens, onFragment, perform, runId },
    ...(deps.telemetry.capturesContent && keepsInput(deps, request, request.origin) && { content: toKeepOf(request) }),
  };
  if (route === "stream") return executeStream(deps, execution);
  const executing = executePrediction(deps, execution);
  if (route === "sync") return executing;
  // Another node continues the run and repeats the call. That call is charged.
  return executing.then((outcome) => (isHandedOn(live) ? { ...outcome, usage: undefined, price: 0 } : outcome));
}

/** Fragments go to the connected client. They are stored only for followers, or if the prediction fails. */
async function executeStream(deps: RunDeps, execution: Execution): Promise<Outcome> {
  const { live, onFragment } = execution;
  const fragments = new Fragments(deps.database.sql, { id: live.id, claim: onlyClaim }, deps.log);
  live.onFollowed = () => fragments.publish();
  // A follower may have come while it waited for a slot.
  if (live.isFollowed) fragments.publish();
  const outcome = await executePrediction(deps, {
    ...execution,
    onFragment: (field, text) => {
      fragments.add(field, text);
      return onFragment?.(field, text);
    },
  });
  return fragments.close(outcome);
}

/** Whether this node shuts down, or was considered dead. */
export function isHandedOn({ stoppedBy }: Pick<LivePrediction, "stoppedBy">): boolean {
  return stoppedBy === "shutdown" || stoppedBy === "lost";
}

function withinTime(id: string, work: Promise<boolean>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const waiting: Timed = {
      since: 0,
      expire: () =>
        // Not retryable: the result is charged once it is stored, and a repeat would be charged too.
        reject(
          fault("service_unavailable", `The result was not stored in time. Fetch it later by its id: ${id}`, {
            retryable: false,
          }),
        ),
    };
    const deadline = settleWaits.add(waiting);
    work.then(
      (isWritten) => {
        deadline.leave();
        resolve(isWritten);
      },
      (error) => {
        deadline.leave();
        reject(error);
      },
    );
  });
}

function dearerThanSetAside(): Fault {
  return fault(
    "conflict",
    "The model has changed, and the call would now cost more than the run reserved for it. Call it again.",
  );
}

/** An admission that did not wait for the disk is gone after a crash of the database. */
function lost(): Fault {
  return fault(
    "service_unavailable",
    "The result was lost and not charged, because a server stopped. Send the request again.",
  );
}

function endedElsewhere(): Fault {
  return fault("internal_server_error", "The prediction was ended by another node because this one did not respond");
}
