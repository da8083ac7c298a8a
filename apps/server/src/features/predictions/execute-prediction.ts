import type { FieldSchema, Pricing } from "@gantry/wire";
import {
  type FileOutput,
  type InputValue,
  Interrupted,
  type ModelDriver,
  type ModelResult,
  type OutputValue,
  type TokenUsage,
} from "../../engines/models/driver.ts";
import { Fault, fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Model } from "../models/index.ts";
import { chargeWhenCancelled, chargeWhenDone } from "./charge.rules.ts";
import type { HeldPrediction } from "./held-predictions.ts";
import { type Outcome, type StoredOutput, streamDetailsOf } from "./prediction.ts";

export interface ExecutionDeps {
  log: Log;
  driverOf(model: Model): Promise<ModelDriver>;
  storeOutput(owner: string, predictionId: string, field: string, file: FileOutput): Promise<string>;
}

export interface Execution {
  held: HeldPrediction;
  userId: string;
  model: Model;
  input: Readonly<Record<string, InputValue>>;
  /** The prices of the moment of acceptance, where the model may have changed since. */
  pricing?: Pricing;
  onFragment?: (field: string, text: string) => void | Promise<void>;
}

const noReader = () => {};

/**
 * Runs the driver under the model's time limit and the abort signal, stores the files it made, and says what it came
 * to. Never rejects: whatever happens is an outcome.
 */
export async function executePrediction(deps: ExecutionDeps, execution: Execution): Promise<Outcome> {
  const { held, model } = execution;
  const pricing = execution.pricing ?? model.manifest.pricing;
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const timer = setTimeout(() => held.stop("timeout"), model.manifest.timeout_seconds * 1000);
  try {
    const driver = await deps.driverOf(model);
    const result = await orStopped(
      held.signal,
      driver.run({
        predictionId: held.id,
        input: execution.input,
        signal: held.signal,
        onFragment: execution.onFragment ?? noReader,
      }),
    );
    const inferenceMs = elapsed();
    const output = await storeFiles(deps, execution, result);
    const outputs = Math.max(1, Object.values(result.output).filter(isFile).length);
    const price = chargeWhenDone(pricing, { seconds: inferenceMs / 1000, usage: result.usage, outputs });
    const streamDetails = streamDetailsOf(model, result.usage);
    return { kind: "done", output, usage: result.usage, streamDetails, inferenceMs, price };
  } catch (error) {
    const failure = toFailure(deps.log, held, error);
    const inferenceMs = elapsed();
    const usage = usageBeforeStop(error);
    const cancelled = failure.type === "generation_cancelled";
    const price = cancelled ? chargeWhenCancelled(pricing, { seconds: inferenceMs / 1000, usage, outputs: 0 }) : 0;
    const streamDetails = usage && streamDetailsOf(model, usage);
    return { kind: "failed", fault: failure, usage, streamDetails, inferenceMs, price };
  } finally {
    clearTimeout(timer);
  }
}

// A driver that listens to its signal ends within this time and says what it used; one that does not is left behind.
const lastWordMs = 250;

function orStopped<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let patience: NodeJS.Timeout | undefined;
    const stop = () => {
      patience = setTimeout(() => reject(signal.reason), lastWordMs);
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => {
      clearTimeout(patience);
      signal.removeEventListener("abort", stop);
    });
  });
}

function usageBeforeStop(error: unknown): TokenUsage | undefined {
  return error instanceof Interrupted ? error.usage : undefined;
}

function toFailure(log: Log, held: HeldPrediction, error: unknown): Fault {
  if (held.signal.aborted) return held.signal.reason as Fault;
  if (error instanceof Fault) return error;
  log.error({ prediction_id: held.id, err: error }, "A model driver failed");
  return fault("internal_server_error", "Internal server error", { cause: error });
}

async function storeFiles(
  deps: ExecutionDeps,
  { held, userId, model }: Execution,
  result: ModelResult,
): Promise<StoredOutput> {
  const stored: StoredOutput = {};
  for (const [field, value] of Object.entries(result.output)) {
    stored[field] = isFile(value) ? await deps.storeOutput(userId, held.id, field, value) : value;
  }
  for (const field of model.manifest.output.required ?? []) {
    if (stored[field] === undefined) throw missingOutput(field, model.manifest.output.properties[field]);
  }
  return stored;
}

function isFile(value: OutputValue): value is FileOutput {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "file";
}

function missingOutput(field: string, schema: FieldSchema | undefined): Fault {
  if (schema?.format === "binary") return fault("no_media_generated", "The run ended without producing any output");
  return fault("downstream_service_error", `The model answered without its output field ${field}`);
}
