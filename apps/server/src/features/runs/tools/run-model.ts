import { createHash } from "node:crypto";
import { idPrefixes, type ObjectSchema } from "@gantry/wire";
import type { InputValue } from "../../../engines/models/driver.ts";
import { Fault, fault } from "../../../kernel/errors.ts";
import type { Caller } from "../../accounts/index.ts";
import type { ToolInfo } from "../../agents/index.ts";
import type { Drives } from "../../drives/index.ts";
import type { Model, Models } from "../../models/index.ts";
import type { CheckedInput, Outcome, Predictions, ReadModelInput } from "../../predictions/index.ts";
import type { UsedByCall } from "../run-writer.ts";
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
  models: Pick<Models, "resolveForCall">;
  predictions: Pick<Predictions, "run" | "recallCall" | "mostCost">;
  drives: Pick<Drives, "readFile">;
  readInput: ReadModelInput;
}

/** Another model, as the caller may call it and at the caller's cost. What is private to the caller needs its leave. */
export function runModelTool(info: ToolInfo, deps: RunModelDeps, scope: RunScope): RunTool {
  return {
    name: info.id,
    description: info.description,
    parameters: info.parameters,
    kind: info.kind,
    asks: false,
    async mostCost({ model: name, input }) {
      // What cannot be called costs nothing, and why is told when it is tried.
      const model = await resolve(deps, scope, name).catch(() => undefined);
      if (!model) return 0;
      return deps.predictions.mostCost(
        model,
        asRead(model.manifest.input, (input ?? {}) as Record<string, InputValue>),
      );
    },
    async execute(call) {
      const { model: name, input } = call.arguments;
      const tries = await findTries(deps, scope.runId, call.callId);
      if (tries.made) return tries.made;
      try {
        const model = await resolve(deps, scope, name);
        return await predict(deps, scope, model, (input ?? {}) as Record<string, unknown>, { call, tries });
      } catch (error) {
        // Not by its name: whoever wrote the call knows it, and who else sees this may not know it.
        const failed = outcomeOfFailure(error, call.signal);
        return isFree(tries.used) ? failed : { ...failed, used: tries.used };
      }
    },
  };
}

/** About as the form reads it: defaults filled in, numbers that are sent as texts. */
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
  'Another user\'s agent may not use the private models of the caller. The caller allows it by creating the run with connectors: ["models"]';
const storedFileRefusal =
  'Another user\'s agent may not use the stored files of the caller. The caller allows it by creating the run with connectors: ["files"]';

async function resolve({ models }: RunModelDeps, scope: RunScope, name: unknown): Promise<Model> {
  const caller = present(scope.caller);
  const [owner = "", ...rest] = String(name).split("/");
  const resolving = models.resolveForCall(caller, owner, rest.join("/"));
  if (owner !== caller.username || mayUse(scope, "models")) return resolving;
  // A name that does not exist gets the same answer: which private models a caller has is not for other users to find out.
  const model = await resolving.catch(() => undefined);
  if (model?.manifest.visibility !== "public") throw fault("forbidden", privateModelRefusal);
  return model;
}

function present(caller: RunScope["caller"]): Caller {
  if (!caller) throw new Error("a tool is called for somebody whose key is gone");
  return caller;
}

async function predict(
  deps: RunModelDeps,
  scope: RunScope,
  model: Model,
  given: Readonly<Record<string, unknown>>,
  { call: { signal, setAside }, tries }: { call: ToolCallRequest; tries: Tries },
): Promise<ToolOutcome> {
  const caller = present(scope.caller);
  const { nextId: predictionId, used: before } = tries;
  if (predictionId === undefined) throw fault("internal_server_error", "The call was interrupted too often");
  const form = modelForm(deps, scope, model.manifest, given);
  const extras = { user: false, webhook: false };
  const storedRefusal = mayUse(scope, "files") ? undefined : storedFileRefusal;
  const reading = deps
    .readInput({ caller, model, extras, readForm: form.read, signal, storedRefusal })
    .catch((error) => {
      throw error instanceof Fault ? form.correct(error) : error;
    });
  const input = await orLeft(reading, signal);
  let stop = () => {};
  try {
    const { outcome } = await deps.predictions.run({
      predictionId,
      caller,
      model,
      route: "agent",
      // As in call-model.ts.
      mustBeCovered: !isOwnersOwnRun(scope),
      setAside,
      input,
      onLive(held) {
        // Who has the run next makes the call again, so this one is not paid; one that nobody makes again is.
        stop = () => held.stop(isHandedOn(signal.reason) ? "lost" : "cancelled");
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
      },
    });
    const used = plus(before, outcome);
    if (isFree(used) || isHandedOn(signal.reason)) signal.throwIfAborted();
    if (outcome.kind === "done") return { text: JSON.stringify(outcome.output), isError: false, used };
    return { ...failedWith(explainFault(outcome.fault)), used };
  } finally {
    signal.removeEventListener("abort", stop);
    await input.dispose();
  }
}

/** A file that is still being read when the call is aborted costs nothing, so nobody waits for it. */
async function orLeft(reading: Promise<CheckedInput>, signal: AbortSignal): Promise<CheckedInput> {
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

const mostTries = 8;

export interface Tries {
  /** What came of it, where one was done. */
  made: ToolOutcome | undefined;
  /** By all of them. It is counted with the end of the call, which none of them came to. */
  used: UsedByCall;
  /** Of the prediction of the next one, if there may be one. */
  nextId: string | undefined;
}

/**
 * A call that a crash interrupted is made again, but not paid again: the id of its prediction follows from the call, so
 * one that was done is found. One that was not gets the next id.
 */
export async function findTries(
  { predictions }: { predictions: Pick<Predictions, "recallCall"> },
  runId: string,
  callId: string,
): Promise<Tries> {
  let used: UsedByCall = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, cost_micros: 0 };
  for (let attempt = 0; attempt < mostTries; attempt++) {
    const nextId = idOfTry(runId, callId, attempt);
    const found = await predictions.recallCall(nextId);
    if (!found) return { made: undefined, used, nextId };
    used = plus(used, found);
    if (found.kind === "done") {
      return { made: { text: JSON.stringify(found.output), isError: false, used }, used, nextId: undefined };
    }
  }
  return { made: undefined, used, nextId: undefined };
}

function isFree(used: UsedByCall): boolean {
  return Object.values(used).every((count) => count === 0);
}

function plus(used: UsedByCall, { usage, price }: Pick<Outcome, "usage" | "price">): UsedByCall {
  return {
    input_tokens: used.input_tokens + (usage?.inputTokens ?? 0),
    output_tokens: used.output_tokens + (usage?.outputTokens ?? 0),
    cached_tokens: used.cached_tokens + (usage?.cachedTokens ?? 0),
    cache_write_tokens: used.cache_write_tokens + (usage?.cacheWriteTokens ?? 0),
    cost_micros: used.cost_micros + price,
  };
}

const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/** With the time of the run, so that it sorts where it belongs. */
function idOfTry(runId: string, callId: string, attempt: number): string {
  const hash = createHash("sha256").update(`${callId} ${attempt}`).digest();
  const tail = Array.from(hash.subarray(0, 16), (byte) => digits.charAt(byte & 31)).join("");
  return `${idPrefixes.prediction}_${runId.slice(-26, -16)}${tail}`;
}
