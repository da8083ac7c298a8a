import { createHash } from "node:crypto";
import { idPrefixes } from "@gantry/wire";
import { Fault, fault } from "../../../kernel/errors.ts";
import type { ToolInfo } from "../../agents/index.ts";
import { reservationOf } from "../../billing/index.ts";
import type { Drives } from "../../drives/index.ts";
import type { Model, Models } from "../../models/index.ts";
import type { CheckedInput, FormReader, Predictions, RecalledCall } from "../../predictions/index.ts";
import { isHandedOn } from "../work/stopped.ts";
import { modelForm } from "./model-form.ts";
import type { RunScope, RunTool, ToolCallRequest, ToolOutcome } from "./run-tool.ts";
import { explainFault, failedWith, outcomeOfFailure } from "./tool-failure.ts";

export interface RunModelDeps {
  models: Pick<Models, "resolveForCall">;
  predictions: Pick<Predictions, "run" | "recallCall">;
  drives: Pick<Drives, "readFile">;
  /** Turns a form into checked input, with the caller's own stored files; see features/predictions/input. */
  readInput(request: {
    caller: RunScope["caller"];
    model: Model;
    extras: { user: boolean; webhook: boolean };
    readForm: FormReader;
    signal: AbortSignal;
  }): Promise<CheckedInput>;
}

/** Another model, as the caller may call it and at the caller's cost. */
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
      // No token is shorter than a byte.
      const countedTokens = Buffer.byteLength(JSON.stringify(input ?? {}));
      const { max_tokens: most } = (input ?? {}) as { max_tokens?: unknown };
      return reservationOf(model.manifest, { countedTokens, maxTokens: typeof most === "number" ? most : undefined });
    },
    async execute(call) {
      const { model: name, input } = call.arguments;
      try {
        const model = await resolve(deps, scope, name);
        return await predict(deps, scope, model, (input ?? {}) as Record<string, unknown>, call);
      } catch (error) {
        const { text, isError } = outcomeOfFailure(error, call.signal);
        return { text: `${String(name).slice(0, 150)}: ${text}`, isError };
      }
    },
  };
}

function resolve({ models }: RunModelDeps, { caller }: RunScope, name: unknown): Promise<Model> {
  const [owner = "", ...rest] = String(name).split("/");
  return models.resolveForCall(caller, owner, rest.join("/"));
}

async function predict(
  deps: RunModelDeps,
  scope: RunScope,
  model: Model,
  given: Readonly<Record<string, unknown>>,
  { signal, callId }: ToolCallRequest,
): Promise<ToolOutcome> {
  const { caller } = scope;
  const { predictionId, made } = await findTry(deps, scope, callId);
  if (made) return { text: JSON.stringify(made.output), isError: false, costMicros: made.price };
  const form = modelForm(deps, scope, model.manifest, given);
  const extras = { user: false, webhook: false };
  const input = await deps.readInput({ caller, model, extras, readForm: form.read, signal }).catch((error) => {
    throw error instanceof Fault ? form.correct(error) : error;
  });
  let stop = () => {};
  try {
    const { outcome } = await deps.predictions.run({
      predictionId,
      caller,
      model,
      route: "agent",
      input,
      onHeld(held) {
        // Who has the run next makes the call again, so this one is not paid; one that nobody makes again is.
        stop = () => held.stop(isHandedOn(signal.reason) ? "lost" : "cancelled");
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
      },
    });
    signal.throwIfAborted();
    const costMicros = outcome.price;
    if (outcome.kind === "done") return { text: JSON.stringify(outcome.output), isError: false, costMicros };
    return { ...failedWith(`${model.endpointId}: ${explainFault(outcome.fault)}`), costMicros };
  } finally {
    signal.removeEventListener("abort", stop);
    await input.dispose();
  }
}

const mostTries = 8;

/**
 * A call that a crash interrupted is made again, but not paid again: the id of its prediction follows from the call, so
 * one that was done is found. One that was not gets the next id.
 */
async function findTry(
  { predictions }: RunModelDeps,
  { runId }: RunScope,
  callId: string,
): Promise<{ predictionId: string; made: Extract<RecalledCall, { kind: "done" }> | undefined }> {
  for (let attempt = 0; attempt < mostTries; attempt++) {
    const predictionId = idOfTry(runId, callId, attempt);
    const before = await predictions.recallCall(predictionId);
    if (!before) return { predictionId, made: undefined };
    if (before.kind === "done") return { predictionId, made: before };
  }
  throw fault("internal_server_error", "The call was interrupted too often");
}

const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/** With the time of the run, so that it sorts where it belongs. */
function idOfTry(runId: string, callId: string, attempt: number): string {
  const hash = createHash("sha256").update(`${callId} ${attempt}`).digest();
  const tail = Array.from(hash.subarray(0, 16), (byte) => digits.charAt(byte & 31)).join("");
  return `${idPrefixes.prediction}_${runId.slice(-26, -16)}${tail}`;
}
