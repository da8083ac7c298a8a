import { newId } from "@gantry/wire";
import type { Database } from "../../../engines/database/database.ts";
import { createDeadlines, type Timed } from "../../../kernel/deadlines.ts";
import { type Fault, fault } from "../../../kernel/errors.ts";
import type { Micros } from "../../../kernel/money.ts";
import type { Caller } from "../../accounts/index.ts";
import { reservationOf, type Terms } from "../../billing/index.ts";
import type { Model } from "../../models/index.ts";
import type { Admit, Admitted, RateFigures } from "../admission/admit-predictions.ts";
import { termsFor } from "../admission/reserve.ts";
import type { CheckedInput } from "../input/index.ts";
import { endedUnused, type Outcome } from "../prediction.ts";
import type { Settlement } from "../result/settle-predictions.ts";
import type { ArrivingPrediction } from "../store.ts";
import { type Execution, type ExecutionDeps, executePrediction } from "./execute-prediction.ts";
import { Fragments } from "./fragments.ts";
import type { HeldPrediction, HeldPredictions } from "./held-predictions.ts";

export interface RunDeps extends ExecutionDeps {
  database: Pick<Database, "sql">;
  nodeId: string;
  held: HeldPredictions;
  admit: Admit;
  countTokens(text: string): Promise<number>;
  settlement: Settlement;
  /** Starts what this node holds of agents' calls, as far as there is room. */
  startAgentCalls(): Promise<void>;
}

export interface RunRequest {
  /** Given where it was promised to somebody before; made otherwise. */
  predictionId?: string | undefined;
  caller: Caller;
  model: Model;
  /** `agent`: for a run of an agent, which is no client and waits for its turn also where its user has none free. */
  route: "sync" | "stream" | "agent";
  /** The run whose next model call it is: it is admitted only while this node works on that run. */
  runId?: string | undefined;
  /** Nobody who pays has asked for it: it is admitted only where there is money for all that it reserves. */
  mustBeCovered?: boolean;
  /** The user who pays in the caller's place, and must cover all of it. Only for the route `agent`. */
  sponsorId?: string | undefined;
  input: Pick<CheckedInput, "input" | "user">;
  /** Called before admission, so that a client that leaves meanwhile already stops it. */
  onHeld(held: HeldPrediction): void;
  /** Called once it is accepted, also when it still waits for capacity. */
  onAccepted?(predictionId: string, rate: RateFigures | undefined): void;
  onFragment?(field: string, text: string): void | Promise<void>;
  /** Given where the input does not tell what may be used. */
  terms?: Terms;
  inputTokens?: number;
  /** Of a run with a cost limit: the amount set aside for this call. It is not admitted for more. */
  setAside?: Micros | undefined;
  /** Another way to call the model's driver than its prediction face. */
  perform?: Execution["perform"];
}

export interface RunEnd {
  predictionId: string;
  outcome: Outcome;
}

// How long a client waits for the end of its run to be written when the database is away.
const settleWaits = createDeadlines(10_000);
/** What has a client runs once: it is never claimed again. */
const onlyClaim = 1;
const longestTimerMs = 2 ** 31 - 1;

/**
 * The one path of a prediction whose client is connected to this node: admit, wait for a slot, execute, settle. It
 * rejects when the prediction was not accepted, and when its end could not be written; otherwise it resolves with what
 * was written.
 */
export async function runPrediction(deps: RunDeps, request: RunRequest): Promise<RunEnd> {
  const id = request.predictionId ?? newId("prediction");
  const held = deps.held.hold(id);
  let admitted: Admitted;
  let terms: Terms;
  try {
    request.onHeld(held);
    deps.telemetry.concerns(id, request.route);
    terms = request.terms ?? (await termsFor(request.model.manifest, request.input.input, deps.countTokens));
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
      reservation,
      ...(request.mustBeCovered && { mustBeCovered: true }),
      ...(request.sponsorId !== undefined && { sponsored: true }),
      purpose: "run",
      queueSeconds: request.model.manifest.max_queue_seconds,
      mayBeLost: request.predictionId === undefined,
    };
    admitted = await deps.telemetry.inSpan(
      () => ({ name: "admission" }),
      () => deps.admit(arrival),
    );
  } catch (error) {
    held.release();
    throw error;
  }
  held.accepted(onlyClaim);
  request.onAccepted?.(id, admitted.rate);
  const unstarted = admitted.starts ? undefined : await waitForSlot(deps, held, request);
  const outcome = unstarted ?? (await execute(deps, held, request, terms));
  // Then there is more to write, and perhaps to remove, than its row, and somebody waits for the news.
  const hasMore = held.isFollowed || (outcome.kind === "failed" && outcome.lastWords !== undefined);
  const settling = deps.settlement.settle(id, onlyClaim, outcome, hasMore ? "more" : "row");
  const release = () => held.release();
  settling.then(release, release);
  // A run waits as long as it takes: told that it failed, it would make and pay the same call again.
  const isWritten = await (request.route === "agent" ? settling : withinTime(id, settling));
  // A failure may be told as it is. A result that was not written down is none.
  if (!isWritten && outcome.kind === "done") throw endedElsewhere();
  return { predictionId: id, outcome };
}

/** Resolves with nothing when it may start, or with what it came to instead. */
async function waitForSlot(
  deps: RunDeps,
  held: HeldPrediction,
  { model, route }: RunRequest,
): Promise<Outcome | undefined> {
  const limitMs = Math.min(model.manifest.max_queue_seconds * 1000, longestTimerMs);
  const limit = setTimeout(() => held.stop("queueTimeout"), limitMs);
  const startedAt = performance.now();
  try {
    const slot = held.slot();
    // Those before it in the line may wait for their own limits, and nothing then tells it that there is room.
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

function execute(
  deps: RunDeps,
  held: HeldPrediction,
  { caller, model, input, inputTokens, route, onFragment, perform }: RunRequest,
  terms: Terms,
): Promise<Outcome> {
  const execution = { held, userId: caller.userId, model, terms, input: input.input, inputTokens, onFragment, perform };
  if (route === "stream") return executeStream(deps, execution);
  const executing = executePrediction(deps, execution);
  if (route === "sync") return executing;
  // The run goes on elsewhere and makes the call again: that one is paid for and counted.
  return executing.then((outcome) => (isHandedOn(held) ? { ...outcome, usage: undefined, price: 0 } : outcome));
}

/** What it says goes to its client alone, and is written down where somebody follows it, or when it fails. */
async function executeStream(deps: RunDeps, execution: Execution): Promise<Outcome> {
  const { held, onFragment } = execution;
  const fragments = new Fragments(deps.database.sql, { id: held.id, claim: onlyClaim }, deps.log);
  held.onFollowed = () => fragments.publish();
  // It may have waited for its slot until now.
  if (held.isFollowed) fragments.publish();
  const outcome = await executePrediction(deps, {
    ...execution,
    onFragment: (field, text) => {
      fragments.add(field, text);
      return onFragment?.(field, text);
    },
  });
  return fragments.close(outcome);
}

/** This node goes down, or was taken for dead. */
export function isHandedOn({ stoppedBy }: Pick<HeldPrediction, "stoppedBy">): boolean {
  return stoppedBy === "shutdown" || stoppedBy === "lost";
}

function withinTime(id: string, work: Promise<boolean>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const waiting: Timed = {
      since: 0,
      expire: () =>
        // Not worth a repeat: it is charged once it is stored, and a second one would be, too.
        reject(
          fault("service_unavailable", `The result could not be stored in time: fetch it later, as ${id}`, {
            retryable: false,
          }),
        ),
    };
    const place = settleWaits.add(waiting);
    work.then(
      (isWritten) => {
        place.leave();
        resolve(isWritten);
      },
      (error) => {
        place.leave();
        reject(error);
      },
    );
  });
}

function dearerThanSetAside(): Fault {
  return fault(
    "conflict",
    "The call would cost more than was set aside for it, because the model has changed. Call it again.",
  );
}

function endedElsewhere(): Fault {
  return fault("internal_server_error", "The prediction was ended by another node because this one did not answer");
}
