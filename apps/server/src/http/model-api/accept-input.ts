import type { Manifest } from "@gantry/wire";
import type { FastifyRequest } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import type { Model } from "../../features/models/index.ts";
import {
  type CheckedInput,
  countWrongInput,
  type FormReader,
  type ReceivedForm,
} from "../../features/predictions/index.ts";
import { fault } from "../../kernel/errors.ts";
import { readMultipart } from "../multipart/index.ts";
import type { ModelApiDeps, OfModel } from "./deps.ts";

/** A body up to this length has arrived anyway; a longer one is not read for somebody who would be refused. */
const smallBody = 65_536;
/** What arrives sooner was sent when the model was looked up. */
const slowBodyMs = 100;

type Route = "sync" | "stream" | "async";

export interface AcceptedInput {
  input: CheckedInput;
  model: Model;
}

/**
 * Reads and checks the body, after a first look at funds and limits where the body is long. Answers it with the model as
 * it is when all has arrived: its price and who may call it are those of acceptance, not of a request line long ago.
 * `held`: the body, where it has arrived already.
 */
export async function acceptInput(
  deps: ModelApiDeps,
  request: FastifyRequest<OfModel>,
  { signal, held, ...asked }: { caller: Caller; model: Model; route: Route; signal: AbortSignal; held?: ReceivedForm },
): Promise<AcceptedInput> {
  const { caller, model, route } = asked;
  const beganAt = performance.now();
  if (!held && hasLongBody(request)) await deps.predictions.look({ ...asked, counts: false });
  const readForm = held?.read ?? formOf(request);
  const input = await countWrongInput(deps.predictions.look, asked, () =>
    deps.readInput({ caller, model, extras: extrasOf(route), readForm, signal }),
  );
  if (performance.now() - beganAt < slowBodyMs) return { input, model };
  try {
    const { owner, model: name } = request.params;
    return { input, model: unlessChanged(model, await deps.models.resolveForCall(caller, owner, name)) };
  } catch (error) {
    await input.dispose();
    throw error;
  }
}

export function hasLongBody({ headers }: FastifyRequest): boolean {
  const length = headers["content-length"];
  // Who asks whether to send the body is not told to go on for nothing, however short it is.
  return length === undefined || Number(length) > smallBody || headers.expect !== undefined;
}

export function formOf(request: FastifyRequest): FormReader {
  return (options) => readMultipart(request.raw, options);
}

export function extrasOf(route: Route): { user: boolean; webhook: boolean } {
  return { user: route !== "sync", webhook: route === "async" };
}

/** The model as it is now, where it still takes what was sent to it as it was. */
export function unlessChanged(before: Model, present: Model): Model {
  if (present === before || isCalledAlike(present.manifest, before.manifest)) return present;
  throw fault("service_unavailable", "The model was changed while the request was being sent: send it again");
}

/** What was read by the one is right for the other. */
function isCalledAlike(one: Manifest, other: Manifest): boolean {
  const read = ({ kind, input, output }: Manifest) => JSON.stringify([kind, input, output]);
  return read(one) === read(other);
}
