import type { ErrorType } from "@gantry/wire";
import {
  type FileOutput,
  type InputValue,
  Interrupted,
  type ModelCall,
  type ModelDriver,
  type ModelResult,
  type OutputValue,
  readableText,
  type TokenUsage,
} from "../../../engines/models/driver.ts";
import type { Span, Telemetry } from "../../../engines/telemetry/telemetry.ts";
import { createDeadlinesByLength } from "../../../kernel/deadlines.ts";
import { Fault, fault } from "../../../kernel/errors.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Terms } from "../../billing/index.ts";
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
import { type Outcome, type StoredOutput, streamDetailsOf } from "../prediction.ts";
import type { HeldPrediction } from "./held-predictions.ts";
import { describeModelCall, usageAttributes } from "./model-span.rules.ts";
import { checkedOutput, makesFiles } from "./output-check.rules.ts";

export interface ExecutionDeps {
  log: Log;
  telemetry: Telemetry;
  /** Rejects with a fault where it cannot be called; what that tells may depend on who calls. */
  driverOf(model: Model, callerId: string): Promise<ModelDriver>;
  storeOutput(owner: string, predictionId: string, field: string, file: FileOutput): Promise<string>;
  countTokens(text: string): Promise<number>;
}

export interface Execution {
  held: HeldPrediction;
  userId: string;
  model: Model;
  input: Readonly<Record<string, InputValue>>;
  /** About how many there are, where the model reads something else than `input`. */
  inputTokens?: number | undefined;
  /** Of acceptance: the model may have changed since. */
  terms: Terms;
  onFragment?: ((field: string, text: string) => void | Promise<void>) | undefined;
  /** Left out: `driver.run`. */
  perform?: ((driver: ModelDriver, call: ModelCall) => Promise<ModelResult>) | undefined;
}

const noReader = () => {};
const runDriver = (driver: ModelDriver, call: ModelCall) => driver.run(call);

/**
 * Runs the driver under the model's time limit and the abort signal, stores the files it made, and says what it came
 * to. Never rejects: whatever happens is an outcome.
 */
export function executePrediction(deps: ExecutionDeps, execution: Execution): Promise<Outcome> {
  return deps.telemetry.inSpan(
    () => ({ name: "execution", attributes: { "gantry.prediction_id": execution.held.id } }),
    (span) => execute(deps, execution, span),
  );
}

const timeLimits = createDeadlinesByLength();

async function execute(deps: ExecutionDeps, execution: Execution, span: Span): Promise<Outcome> {
  const { held, userId, model, terms } = execution;
  const startedAt = performance.now();
  const timeLimit = timeLimits(model.manifest.timeout_seconds * 1000).add(held);
  try {
    const driver = await deps.driverOf(model, userId);
    const result = await deps.telemetry.inSpan(
      () => describeModelCall(model, execution.input, held.id),
      (call) => callDriver(deps, execution, driver, call),
    );
    const inferenceMs = performance.now() - startedAt;
    const files = Object.values(result.output).filter(isFile).length;
    const stored = files > 0 ? await storeFiles(deps, execution, result) : (result.output as StoredOutput);
    // Another face of the driver has another output than the manifest says.
    const output = execution.perform ? stored : checkedOutput(model.manifest.output, stored);
    const outputs = files > 0 || !makesFiles(model.manifest.output) ? Math.max(1, files) : 0;
    const usage = withinBounds(deps, execution, await usageOf(deps, execution, result));
    const price = chargeWhenDone(terms, { seconds: inferenceMs / 1000, usage, outputs });
    const streamDetails = streamDetailsOf(model, usage);
    return { kind: "done", output, usage, streamDetails, inferenceMs, price };
  } catch (error) {
    const failure = toFailure(deps.log, held, error);
    span.fail(failure.type);
    const inferenceMs = performance.now() - startedAt;
    // After the time was taken: that is the model's, and counting is ours.
    const usage = withinBounds(deps, execution, await usageBeforeStop(held, error));
    span.set(usageAttributes(usage));
    const cancelled = failure.type === "generation_cancelled";
    const price = cancelled ? chargeWhenCancelled(terms, { seconds: inferenceMs / 1000, usage, outputs: 0 }) : 0;
    const streamDetails = usage && streamDetailsOf(model, usage);
    return { kind: "failed", fault: failure, usage, streamDetails, inferenceMs, price };
  } finally {
    timeLimit.leave();
  }
}

/** What the backend reports; counted here where it reports none although they have a price, or what cannot be. */
async function usageOf(
  deps: ExecutionDeps,
  execution: Execution,
  { usage, output }: ModelResult,
): Promise<TokenUsage | undefined> {
  if (usage && isBelievable(usage)) return usage;
  if (usage) {
    const { model, held } = execution;
    deps.log.warn(
      { model: model.endpointId, prediction_id: held.id, reported: usage },
      "A backend reports more tokens than an answer can have: they were counted here instead",
    );
  } else if (!isPricedByTokens(execution.terms.pricing)) return undefined;
  return counted(deps, execution, output);
}

/** The tokens that are charged. Who runs a backend does not decide about the bill of a caller. */
function withinBounds(
  { log }: ExecutionDeps,
  { model, held, terms: { bounds } }: Execution,
  usage: TokenUsage | undefined,
): TokenUsage | undefined {
  if (!usage || isWithin(usage, bounds)) return usage;
  const reserved = { inputTokens: bounds.inputTokens, outputTokens: bounds.outputTokens };
  log.warn(
    { model: model.endpointId, prediction_id: held.id, reported: usage, reserved },
    "A backend reports more tokens than were reserved. Only reserved tokens are charged.",
  );
  return chargedUsage(usage, bounds);
}

/** What is in files is not counted. */
async function counted(
  { countTokens }: ExecutionDeps,
  { input, inputTokens }: Execution,
  output: ModelResult["output"],
): Promise<TokenUsage> {
  const written = Object.entries(output).filter(([, value]) => !isFile(value));
  return {
    inputTokens: inputTokens ?? (await countTokens(readableText(input))),
    outputTokens: await countTokens(readableText(Object.fromEntries(written))),
    estimated: true,
  };
}

async function callDriver(
  { telemetry }: ExecutionDeps,
  { held, model, terms, input, onFragment = noReader, perform = runDriver }: Execution,
  driver: ModelDriver,
  span: Span,
): Promise<ModelResult> {
  const { type } = model.manifest.backend;
  const startedAt = performance.now();
  try {
    const limited = withinTerms(terms, model.manifest, input);
    const call = { predictionId: held.id, input: limited, signal: held.signal, onFragment };
    const result = await orStopped(held, perform(driver, call));
    const { usage } = result;
    const isBelieved = usage !== undefined && isBelievable(usage);
    if (isBelieved && !isCountable(usage)) throw impossibleUsage();
    telemetry.modelCalled(type, performance.now() - startedAt, undefined);
    if (isBelieved) span.set(usageAttributes(usage));
    return result;
  } catch (error) {
    const failure = faultTypeOf(held.signal.aborted ? held.signal.reason : error);
    telemetry.modelCalled(type, performance.now() - startedAt, failure);
    span.fail(failure);
    throw error;
  }
}

function faultTypeOf(error: unknown): ErrorType {
  return error instanceof Fault ? error.type : "internal_server_error";
}

// A driver that listens to its signal ends within this time; one that does not is left behind.
const lastWordMs = 250;

function orStopped<T>(held: HeldPrediction, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let patience: NodeJS.Timeout | undefined;
    const stop = () => {
      patience = setTimeout(() => reject(held.signal.reason), lastWordMs);
    };
    if (held.signal.aborted) stop();
    else held.onStop = stop;
    const over = () => {
      clearTimeout(patience);
      held.onStop = undefined;
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

/** After the last word's time: who reads a long answer and leaves at its end must not get it for nothing. */
async function usageBeforeStop(held: HeldPrediction, error: unknown): Promise<TokenUsage | undefined> {
  // A process that goes down charges nothing for what it leaves, and has no time to count it.
  if (!(error instanceof Interrupted) || held.stoppedBy === "shutdown") return undefined;
  const usage = await error.usage();
  return isBelievable(usage) && isCountable(usage) ? usage : undefined;
}

function impossibleUsage(): Fault {
  return fault("downstream_service_error", "The model's backend reports a number of tokens that cannot be");
}

function toFailure(log: Log, held: HeldPrediction, error: unknown): Fault {
  if (held.signal.aborted) return held.signal.reason as Fault;
  if (error instanceof Fault) return error;
  log.error({ prediction_id: held.id, err: error }, "A model driver failed");
  return fault("internal_server_error", "Internal server error", { cause: error });
}

async function storeFiles(
  deps: ExecutionDeps,
  { held, userId }: Execution,
  result: ModelResult,
): Promise<StoredOutput> {
  const stored: StoredOutput = {};
  for (const [field, value] of Object.entries(result.output)) {
    stored[field] = isFile(value) ? await deps.storeOutput(userId, held.id, field, value) : value;
  }
  return stored;
}

function isFile(value: OutputValue): value is FileOutput {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "file";
}
