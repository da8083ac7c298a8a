import { backendsOf, type ErrorType, type ListedBackend } from "@gantry/wire";
import {
  type FileOutput,
  type InputValue,
  Interrupted,
  isFileOutput,
  type ModelCall,
  type ModelDriver,
  type ModelResult,
  readableText,
  type TokenUsage,
} from "../../../engines/models/driver.ts";
import type { Span, Telemetry } from "../../../engines/telemetry/telemetry.ts";
import { createDeadlinesByLength } from "../../../kernel/deadlines.ts";
import { Fault, fault } from "../../../kernel/errors.ts";
import type { Log } from "../../../kernel/log.ts";
import { pricingWith, type Terms } from "../../billing/index.ts";
import type { Model } from "../../models/index.ts";
import {
  chargedUsage,
  chargeWhenCancelled,
  chargeWhenDone,
  isBelievable,
  isCountable,
  isPricedByTokens,
  isWithin,
} from "../admission/charge.rules.ts";
import { withinTerms } from "../admission/reserve.ts";
import type { Attempt } from "../backends/call-backends.ts";
import type { ListedBackends } from "../backends/open-backends.ts";
import { type Outcome, type StoredOutput, streamDetailsOf } from "../prediction.ts";
import type { LivePrediction } from "./live-predictions.ts";
import { finishAttributes, inputAttributes, outputAttributes } from "./model-content.rules.ts";
import { describeModelCall, figuresOfCall, usageAttributes } from "./model-span.rules.ts";
import { checkedOutput, makesFiles } from "./output-check.rules.ts";
import { storeFiles } from "./store-files.ts";

export interface ExecutionDeps {
  log: Log;
  telemetry: Telemetry;
  /** Calls one of the backends that a model lists. */
  backends: Pick<ListedBackends, "call" | "isOpen">;
  /** Rejects with a fault if the model cannot be called. Its text may depend on the caller. */
  driverOf(model: Model, backend: ListedBackend, callerId: string): Promise<ModelDriver>;
  storeOutput(owner: string, predictionId: string, field: string, file: FileOutput): Promise<string>;
  countTokens(text: string): Promise<number>;
}

export interface Execution {
  live: LivePrediction;
  userId: string;
  model: Model;
  input: Readonly<Record<string, InputValue>>;
  /** An estimate, if the model reads something else than `input`. */
  inputTokens?: number | undefined;
  /** As of acceptance: the model may have changed since. */
  terms: Terms;
  onFragment?: ((field: string, text: string) => void | Promise<void>) | undefined;
  /** Defaults to `driver.run`. */
  perform?: Perform | undefined;
  /** The run that made the call, for its span. */
  runId?: string | undefined;
  /** The input as it is kept. Undefined if it is not kept: then it is not in spans either. */
  content?: (() => Record<string, unknown>) | undefined;
}

export type Perform = (driver: ModelDriver, call: ModelCall, backend: ListedBackend) => Promise<ModelResult>;

const noReader = () => {};
const runDriver: Perform = (driver, call) => driver.run(call);

/** Runs the driver under the model's time limit and the abort signal, and stores the files of its output. Never rejects. */
export function executePrediction(deps: ExecutionDeps, execution: Execution): Promise<Outcome> {
  return deps.telemetry.inSpan(
    () => ({ name: "execution", attributes: { "gantry.prediction_id": execution.live.id } }),
    (span) => execute(deps, execution, span),
  );
}

const timeLimits = createDeadlinesByLength();

async function execute(deps: ExecutionDeps, execution: Execution, span: Span): Promise<Outcome> {
  const { live, userId, model, terms } = execution;
  const attempt = firstAttempt(execution);
  const store = (field: string, file: FileOutput) => deps.storeOutput(userId, live.id, field, file);
  const timeLimit = timeLimits(model.manifest.timeout_seconds * 1000).add(live);
  try {
    const result = model.manifest.backends
      ? await deps.backends.call({ model, signal: live.signal, attempt, run: () => call(deps, execution, attempt) })
      : await call(deps, execution, attempt);
    const inferenceMs = timeAt(attempt, result.waitedMs);
    const files = Object.values(result.output).flat().filter(isFileOutput).length;
    const stored = files > 0 ? await storeFiles(result.output, store) : (result.output as StoredOutput);
    // The manifest describes the output of `driver.run` only.
    const output = execution.perform ? stored : checkedOutput(model.manifest.output, stored);
    const outputs = files > 0 || !makesFiles(model.manifest.output) ? Math.max(1, files) : 0;
    const backend = nameOf(attempt);
    const usage = withinBounds(deps, execution, await usageOf(deps, execution, backend, result));
    const price = chargeWhenDone(terms, { backend, seconds: inferenceMs / 1000, usage, outputs });
    const streamDetails = streamDetailsOf(model, usage);
    return { kind: "done", output, usage, streamDetails, inferenceMs, price, backend };
  } catch (error) {
    const failure = toFailure(deps.log, live, error);
    span.fail(failure.type);
    const inferenceMs = timeAt(attempt, error instanceof Interrupted ? error.waitedMs : 0);
    const backend = nameOf(attempt);
    // Counted after the time was taken, so that counting does not add to it.
    const usage = withinBounds(deps, execution, await usageBeforeStop(live, error));
    span.set(usageAttributes(usage));
    const cancelled = failure.type === "generation_cancelled";
    const work = { backend, seconds: inferenceMs / 1000, usage, outputs: 0 };
    const price = cancelled ? chargeWhenCancelled(terms, work) : 0;
    const streamDetails = usage && streamDetailsOf(model, usage);
    return { kind: "failed", fault: failure, usage, streamDetails, inferenceMs, price, backend };
  } finally {
    timeLimit.leave();
  }
}

/** The first try. Of listed backends none is chosen yet. */
function firstAttempt({ live, model: { manifest } }: Execution): Attempt {
  const backend = manifest.backends ? undefined : backendsOf(manifest)[0];
  const startedAt = performance.now();
  return { backend, startedAt, signal: live.signal, hasDriver: false, onBegun: undefined };
}

/** The time at the backend that was tried last, without failed tries and waits. */
function timeAt({ startedAt }: Attempt, waitedMs = 0): number {
  return startedAt === undefined ? 0 : Math.max(0, performance.now() - startedAt - Math.max(0, waitedMs));
}

/** Empty if no backend was tried. */
function nameOf({ backend }: Attempt): string {
  return backend?.name ?? "";
}

async function call(deps: ExecutionDeps, execution: Execution, attempt: Attempt): Promise<ModelResult> {
  const { model, live, input, userId, runId } = execution;
  const { backend } = attempt;
  if (!backend) throw new Error("no backend was chosen");
  const driver = await deps.driverOf(model, backend, userId);
  attempt.hasDriver = true;
  return deps.telemetry.inSpan(
    () => describeModelCall(model, backend, input, { predictionId: live.id, runId }),
    (span) => callDriver(deps, execution, attempt, { backend, driver, span }),
  );
}

/** The reported usage. Counted here if the backend reports none for priced tokens, or implausible figures. */
async function usageOf(
  deps: ExecutionDeps,
  execution: Execution,
  backend: string,
  { usage, output }: ModelResult,
): Promise<TokenUsage | undefined> {
  if (usage && isBelievable(usage)) return usage;
  if (usage) {
    const { model, live } = execution;
    deps.log.warn(
      { model: model.endpointId, prediction_id: live.id, reported: usage },
      "A backend reports more tokens than an answer can have. The tokens were counted here instead.",
    );
  } else if (!isPricedByTokens(pricingWith(execution.terms, backend))) return undefined;
  return counted(deps, execution, output);
}

/** The charged tokens. A backend cannot raise the caller's bill above the reservation. */
function withinBounds(
  { log }: ExecutionDeps,
  { model, live, terms: { bounds } }: Execution,
  usage: TokenUsage | undefined,
): TokenUsage | undefined {
  if (!usage || isWithin(usage, bounds)) return usage;
  const reserved = { inputTokens: bounds.inputTokens, outputTokens: bounds.outputTokens };
  log.warn(
    { model: model.endpointId, prediction_id: live.id, reported: usage, reserved },
    "A backend reports more tokens than were reserved. Only reserved tokens are charged.",
  );
  return chargedUsage(usage, bounds);
}

/** Files are not counted. */
async function counted(
  { countTokens }: ExecutionDeps,
  { input, inputTokens }: Execution,
  output: ModelResult["output"],
): Promise<TokenUsage> {
  const written = Object.entries(output).filter(([, value]) => ![value].flat().some(isFileOutput));
  return {
    inputTokens: inputTokens ?? (await countTokens(readableText(input))),
    outputTokens: await countTokens(readableText(Object.fromEntries(written))),
    estimated: true,
  };
}

async function callDriver(
  { telemetry }: ExecutionDeps,
  { live, terms, model, input, content, onFragment = noReader, perform = runDriver }: Execution,
  { signal, onBegun }: Attempt,
  { backend, driver, span }: { backend: ListedBackend; driver: ModelDriver; span: Span },
): Promise<ModelResult> {
  const { type } = backend;
  const startedAt = performance.now();
  const record = (failure: ErrorType | undefined, usage?: TokenUsage) =>
    telemetry.modelCalled(type, performance.now() - startedAt, failure, figuresOfCall(model, backend, usage));
  const captured = telemetry.capturesContent ? content?.() : undefined;
  try {
    if (captured) span.set(inputAttributes(captured));
    const limited = withinTerms(terms, backend, input);
    const call = { predictionId: live.id, input: limited, signal, onFragment, onBegun };
    const result = await orStopped(live, perform(driver, call, backend));
    const { usage } = result;
    const isBelieved = usage !== undefined && isBelievable(usage);
    if (isBelieved && !isCountable(usage)) throw impossibleUsage();
    record(undefined, isBelieved ? usage : undefined);
    span.set({ ...finishAttributes(result.stop), ...(isBelieved && usageAttributes(usage)) });
    if (captured) span.set(outputAttributes(result));
    return result;
  } catch (error) {
    const failure = faultTypeOf(signal.aborted ? signal.reason : error);
    record(failure);
    span.fail(failure);
    throw error;
  }
}

function faultTypeOf(error: unknown): ErrorType {
  return error instanceof Fault ? error.type : "internal_server_error";
}

/** How long a driver may take to end after its signal. A driver that ignores the signal is abandoned. */
const stopGraceMs = 250;

function orStopped<T>(live: LivePrediction, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let grace: NodeJS.Timeout | undefined;
    const stop = () => {
      grace = setTimeout(() => reject(live.signal.reason), stopGraceMs);
    };
    if (live.signal.aborted) stop();
    else live.onStop = stop;
    const over = () => {
      clearTimeout(grace);
      live.onStop = undefined;
    };
    work.then(
      (result) => {
        over();
        resolve(result);
      },
      (error) => {
        over();
        reject(error);
      },
    );
  });
}

/** The usage of a stopped call: a client that leaves at the end of a long answer still pays for it. */
async function usageBeforeStop(live: LivePrediction, error: unknown): Promise<TokenUsage | undefined> {
  // A process that shuts down charges nothing for interrupted work, and has no time to count.
  if (!(error instanceof Interrupted) || live.stoppedBy === "shutdown") return undefined;
  const usage = await error.usage();
  return usage && isBelievable(usage) && isCountable(usage) ? usage : undefined;
}

function impossibleUsage(): Fault {
  return fault("downstream_service_error", "The model's backend reports an invalid number of tokens");
}

function toFailure(log: Log, live: LivePrediction, error: unknown): Fault {
  if (live.signal.aborted) return live.signal.reason as Fault;
  if (error instanceof Fault) return error;
  log.error({ prediction_id: live.id, err: error }, "A model driver failed");
  return fault("internal_server_error", "Internal server error", { cause: error });
}
