import { createHash } from "node:crypto";
import { idPrefixes, type ObjectSchema } from "@gantry/wire";
import type { InputValue } from "../../../engines/models/driver.ts";
import { Fault, fault } from "../../../kernel/errors.ts";
import type { Caller } from "../../accounts/index.ts";
import { bindingOf, type ToolInfo } from "../../agents/index.ts";
import type { Drives } from "../../drives/index.ts";
import type { Model, Models } from "../../models/index.ts";
import type { CheckedInput, Predictions, ReadModelInput } from "../../predictions/index.ts";
import { addUsage, type CallUsage, noUsage, usageOf } from "../call-usage.ts";
import { isHandedOn } from "../work/stopped.ts";
import { modelForm } from "./model-form.ts";
import {
  isOwnersOwnRun,
  mayUse,
  type RunScope,
  type RunTool,
  type ToolCallRequest,
  type ToolOutcome,
} from "./run-tool.ts";
import { explainFault, failedWith, outcomeOfFailure } from "./tool-failure.ts";

export interface RunModelDeps {
  models: Pick<Models, "resolveForCall" | "targetOf">;
  predictions: Pick<Predictions, "run" | "recallCall" | "mostCost">;
  drives: Pick<Drives, "readFile">;
  readInput: ReadModelInput;
}

/** Calls a model with the rights and money of the caller. Private models and files need the caller's permission. */
export function runModelTool(info: ToolInfo, deps: RunModelDeps, scope: RunScope): RunTool {
  return {
    name: info.id,
    description: info.description,
    parameters: info.parameters,
    kind: info.kind,
    asks: false,
    async mostCost({ model: name, input }) {
      // The call itself reports why a model cannot be called.
      const model = await resolve(deps, scope, name).catch(() => undefined);
      if (!model) return 0;
      return deps.predictions.mostCost(
        model,
        asRead(model.manifest.input, (input ?? {}) as Record<string, InputValue>),
      );
    },
    async execute(call) {
      const { model: name, input } = call.arguments;
      const attempts = await findAttempts(deps, scope.runId, call.callId);
      if (attempts.made) return attempts.made;
      try {
        const model = await resolve(deps, scope, name);
        return await predict(deps, scope, model, (input ?? {}) as Record<string, unknown>, { call, attempts });
      } catch (error) {
        // The model is not named: other readers of this text may not know it.
        const failed = outcomeOfFailure(error, call.signal);
        return isFree(attempts.used) ? failed : { ...failed, used: attempts.used };
      }
    },
  };
}

/** Approximates the form: defaults filled in, numeric strings as numbers. */
function asRead({ properties }: ObjectSchema, given: Readonly<Record<string, InputValue>>): Record<string, InputValue> {
  const input: Record<string, InputValue> = { ...given };
  for (const [name, field] of Object.entries(properties)) {
    const value = input[name] ?? (field.default as InputValue | undefined);
    const isNumber = [field.type].flat().some((type) => type === "integer" || type === "number");
    if (value !== undefined) input[name] = isNumber && typeof value === "string" ? Number(value) : value;
  }
  return input;
}

const privateModelRefusal =
  'Another user\'s agent may not use your private models. To allow it, create the run with connectors: ["models"]';
const storedFileRefusal =
  'Another user\'s agent may not use your stored files. To allow it, create the run with connectors: ["files"]';

/** A name may be an alias of the agent's creator. */
async function resolve({ models }: RunModelDeps, scope: RunScope, name: unknown): Promise<Model> {
  const caller = requireCaller(scope.caller);
  const target = await models.targetOf({ userId: scope.ownerId }, String(name));
  const [owner = "", ...rest] = target.split("/");
  const reader = scope.isListed && isFixed(scope) ? { ...caller, models: null } : caller;
  const resolving = models.resolveForCall(reader, owner, rest.join("/"));
  if (owner !== caller.username || mayUse(scope, "models")) return resolving;
  // The same answer for names that do not exist hides which private models the caller has.
  const model = await resolving.catch(() => undefined);
  if (model?.manifest.visibility !== "public") throw fault("forbidden", privateModelRefusal);
  return model;
}

/** Whether the creator has chosen the model, not the agent. */
function isFixed({ snapshot }: RunScope): boolean {
  return bindingOf(snapshot.tools, "run_model")?.arguments?.model !== undefined;
}

function requireCaller(caller: RunScope["caller"]): Caller {
  if (!caller) throw new Error("tool called after the key was revoked");
  return caller;
}

async function predict(
  deps: RunModelDeps,
  scope: RunScope,
  model: Model,
  given: Readonly<Record<string, unknown>>,
  { call: { signal, setAside }, attempts }: { call: ToolCallRequest; attempts: Attempts },
): Promise<ToolOutcome> {
  const caller = requireCaller(scope.caller);
  const { nextId: predictionId, used: before } = attempts;
  if (predictionId === undefined) throw fault("internal_server_error", "The call was interrupted too often");
  const form = modelForm(deps, scope, model.manifest, given);
  const extras = { user: false, webhook: false };
  const storedRefusal = mayUse(scope, "files") ? undefined : storedFileRefusal;
  const reading = deps
    .readInput({ caller, model, extras, readForm: form.read, signal, storedRefusal })
    .catch((error) => {
      throw error instanceof Fault ? form.correct(error) : error;
    });
  const input = await orAborted(reading, signal);
  let stop = () => {};
  try {
    const { outcome } = await deps.predictions.run({
      predictionId,
      caller,
      model,
      route: "agent",
      mustBeCovered: !isOwnersOwnRun(scope),
      setAside,
      input,
      onLive(live) {
        // If another node continues the run, it repeats the call, so this one is not charged.
        stop = () => live.stop(isHandedOn(signal.reason) ? "lost" : "cancelled");
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
      },
    });
    const used = addUsage(before, usageOf(outcome));
    if (isFree(used) || isHandedOn(signal.reason)) signal.throwIfAborted();
    if (outcome.kind === "done") return { text: JSON.stringify(outcome.output), isError: false, used };
    return { ...failedWith(explainFault(outcome.fault)), used };
  } finally {
    signal.removeEventListener("abort", stop);
    await input.dispose();
  }
}

/** Reading a file costs nothing, so an abort does not wait for it. */
async function orAborted(reading: Promise<CheckedInput>, signal: AbortSignal): Promise<CheckedInput> {
  const aborted = Promise.withResolvers<never>();
  const leave = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([reading, aborted.promise]);
  } catch (error) {
    reading.then(
      (input) => input.dispose(),
      () => {},
    );
    throw error;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

export const maxAttempts = 8;

export interface Attempts {
  /** The outcome of a finished attempt. */
  made: ToolOutcome | undefined;
  /** Usage of all attempts, counted with the end of the call. */
  used: CallUsage;
  /** Prediction id of the next attempt; undefined if no attempt is left. */
  nextId: string | undefined;
}

/** Finds earlier attempts after a crash, so that a finished prediction is not paid twice: ids follow from the call. */
export async function findAttempts(
  { predictions }: { predictions: Pick<Predictions, "recallCall"> },
  runId: string,
  callId: string,
): Promise<Attempts> {
  let used = noUsage;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const nextId = attemptId(runId, callId, attempt);
    const found = await predictions.recallCall(nextId);
    if (!found) return { made: undefined, used, nextId };
    used = addUsage(used, usageOf(found));
    if (found.kind === "done") {
      return { made: { text: JSON.stringify(found.output), isError: false, used }, used, nextId: undefined };
    }
  }
  return { made: undefined, used, nextId: undefined };
}

function isFree(used: CallUsage): boolean {
  return Object.values(used).every((count) => count === 0);
}

/** Ids of the first attempts, in order. Further ones need as many dead nodes. */
export function attemptIds(runId: string, callId: string, count = 3): string[] {
  return Array.from({ length: count }, (_, attempt) => attemptId(runId, callId, attempt));
}

const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/** Contains the time of the run, so that ids sort by time. */
function attemptId(runId: string, callId: string, attempt: number): string {
  const hash = createHash("sha256").update(`${callId} ${attempt}`).digest();
  const tail = Array.from(hash.subarray(0, 16), (byte) => digits.charAt(byte & 31)).join("");
  return `${idPrefixes.prediction}_${runId.slice(-26, -16)}${tail}`;
}
