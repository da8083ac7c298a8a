import type { Manifest } from "@gantry/wire";
import type { FastifyRequest } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import type { Model } from "../../features/models/index.ts";
import {
  type CheckedInput,
  checkIdempotencyKey,
  countWrongInput,
  type IdempotentStart,
} from "../../features/predictions/index.ts";
import { fault } from "../../kernel/errors.ts";
import { readMultipart } from "../multipart/index.ts";
import type { OfModel, RouteDeps } from "./deps.ts";

/** A body up to this length has arrived anyway; a longer one is not read for somebody who would be refused. */
const smallBody = 65_536;
/** What arrives sooner was sent when the model was looked up. */
const slowBodyMs = 100;

interface Asked<Route = "sync" | "stream" | "async"> {
  caller: Caller;
  model: Model;
  route: Route;
}

/** The Idempotency-Key of a request; a wrong one is wrong input like any other. */
export async function acceptKey(deps: RouteDeps, request: FastifyRequest, asked: Asked): Promise<string | undefined> {
  const presented = request.headers["idempotency-key"];
  if (presented === undefined) return undefined;
  return countWrongInput(deps.predictions, asked, async () => checkIdempotencyKey(presented));
}

/**
 * Reads and checks the body, after a first look at funds and limits where the body is long. Answers it with the model as
 * it is when all has arrived: its price and who may call it are those of acceptance, not of a request line long ago.
 */
export async function acceptInput(
  deps: RouteDeps,
  request: FastifyRequest<OfModel>,
  { signal, key, ...asked }: Asked & { signal: AbortSignal; key?: string | undefined },
): Promise<{ input: CheckedInput; model: Model }> {
  const { caller, model, route } = asked;
  const beganAt = performance.now();
  const length = request.headers["content-length"];
  // Who asks whether to send the body is not told to go on for nothing, however short it is.
  const isLong = length === undefined || Number(length) > smallBody || request.headers.expect !== undefined;
  if (isLong && !(await mayBeRepeat(deps, asked, key))) await deps.predictions.look({ ...asked, counts: false });
  const input = await countWrongInput(deps.predictions, asked, () =>
    deps.readInput({
      caller,
      model,
      extras: { user: route !== "sync", webhook: route === "async" },
      readForm: (options) => readMultipart(request.raw, options),
      signal,
    }),
  );
  if (performance.now() - beganAt < slowBodyMs) return { input, model };
  try {
    return { input, model: await presentModel(deps, request, asked) };
  } catch (error) {
    await input.dispose();
    throw error;
  }
}

async function presentModel(deps: RouteDeps, request: FastifyRequest<OfModel>, { caller, model }: Asked) {
  const present = await deps.models.resolveForCall(caller, request.params.owner, request.params.model);
  if (present === model || isCalledAlike(present.manifest, model.manifest)) return present;
  throw fault("service_unavailable", "The model was changed while the request was being sent: send it again");
}

/** What was read by the one is right for the other. */
function isCalledAlike(one: Manifest, other: Manifest): boolean {
  const read = ({ kind, input, output }: Manifest) => JSON.stringify([kind, input, output]);
  return read(one) === read(other);
}

async function mayBeRepeat(deps: RouteDeps, { caller, model }: Asked, key: string | undefined): Promise<boolean> {
  if (key === undefined) return false;
  return deps.predictions.mayBeRepeat({ userId: caller.userId, modelName: model.endpointId, key });
}

/** Whether the request is the first with its key; the same key with another input is wrong input. */
export async function startOnce(
  deps: RouteDeps,
  { key, input, ...asked }: Asked<"sync" | "async"> & { key: string; input: CheckedInput },
): Promise<IdempotentStart> {
  const { caller, model, route } = asked;
  const fingerprint = await input.fingerprint();
  const request = { userId: caller.userId, modelName: model.endpointId, route, key, fingerprint };
  return countWrongInput(deps.predictions, asked, () => deps.predictions.startIdempotent(request));
}
