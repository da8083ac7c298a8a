import type { FastifyRequest } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import type { Model } from "../../features/models/index.ts";
import {
  type CheckedInput,
  checkIdempotencyKey,
  countWrongInput,
  type IdempotentStart,
} from "../../features/predictions/index.ts";
import { readMultipart } from "../multipart/index.ts";
import type { RouteDeps } from "./deps.ts";

/** A body up to this length has arrived anyway; a longer one is not read for somebody who would be refused. */
const smallBody = 65_536;

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

/** Reads and checks the body, after a first look at funds and limits where the body is long. */
export async function acceptInput(
  deps: RouteDeps,
  request: FastifyRequest,
  { signal, key, ...asked }: Asked & { signal: AbortSignal; key?: string | undefined },
): Promise<CheckedInput> {
  const { caller, model, route } = asked;
  const length = request.headers["content-length"];
  const isLong = length === undefined || Number(length) > smallBody;
  if (isLong && !(await mayBeRepeat(deps, asked, key))) await deps.predictions.look({ ...asked, counts: false });
  return countWrongInput(deps.predictions, asked, () =>
    deps.readInput({
      caller,
      model,
      extras: { user: route !== "sync", webhook: route === "async" },
      readForm: (options) => readMultipart(request.raw, options),
      signal,
    }),
  );
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
