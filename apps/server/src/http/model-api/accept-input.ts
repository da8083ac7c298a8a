import type { FastifyRequest } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import type { Model } from "../../features/models/index.ts";
import { type CheckedInput, countWrongInput } from "../../features/predictions/index.ts";
import { readMultipart } from "../multipart/index.ts";
import type { RouteDeps } from "./deps.ts";

/** A body up to this length has arrived anyway; a longer one is not read for somebody who would be refused. */
const smallBody = 65_536;

/** Reads and checks the body, after a first look at funds and limits where the body is long. */
export async function acceptInput(
  deps: RouteDeps,
  request: FastifyRequest,
  asked: { caller: Caller; model: Model; route: "sync" | "stream" | "async"; signal: AbortSignal },
): Promise<CheckedInput> {
  const { caller, model, route, signal } = asked;
  const length = request.headers["content-length"];
  if (length === undefined || Number(length) > smallBody)
    await deps.predictions.look({ caller, model, route, counts: false });
  return countWrongInput(deps.predictions, { caller, model, route }, () =>
    deps.readInput({
      caller,
      model,
      extras: { user: route !== "sync", webhook: route === "async" },
      readForm: (options) => readMultipart(request.raw, options),
      signal,
    }),
  );
}
