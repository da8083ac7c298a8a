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

/** A body up to this length has arrived already; a longer one is not read for a caller who would be refused. */
const smallBody = 65_536;
/** Within this time the looked-up model still counts as current. */
const slowBodyMs = 100;

type Route = "sync" | "stream" | "async";

export interface AcceptedInput {
  input: CheckedInput;
  model: Model;
}

/**
 * Reads and checks the body, after a first check of funds and limits if it is long. Returns it with the current model:
 * price and access are those at acceptance, not at the start of a slow upload. `held`: the body, if it has arrived
 * already.
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
    deps.predictions.readInput({ caller, model, extras: extrasOf(route), readForm, signal }),
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
  // A client that waits for 100 Continue is checked first, however short its body.
  return length === undefined || Number(length) > smallBody || headers.expect !== undefined;
}

export function formOf(request: FastifyRequest): FormReader {
  return (options) => readMultipart(request.raw, options);
}

export function extrasOf(route: Route): { user: boolean; webhook: boolean } {
  return { user: route !== "sync", webhook: route === "async" };
}

/** The current model, if it still accepts the input that was sent. */
export function unlessChanged(before: Model, present: Model): Model {
  if (present === before || isCalledAlike(present.manifest, before.manifest)) return present;
  throw fault("service_unavailable", "The model was changed during the upload. Send the request again.");
}

/** Input checked for one is valid for the other. */
function isCalledAlike(one: Manifest, other: Manifest): boolean {
  const read = ({ kind, input, output }: Manifest) => JSON.stringify([kind, input, output]);
  return read(one) === read(other);
}
