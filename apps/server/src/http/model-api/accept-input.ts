import type { FastifyRequest } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import type { Model } from "../../features/models/index.ts";
import { type CheckedInput, rateHeaders } from "../../features/predictions/index.ts";
import { Fault } from "../../kernel/errors.ts";
import { readMultipart } from "../multipart/index.ts";
import type { RouteDeps } from "./deps.ts";

/** A body up to this length has arrived anyway; a longer one is not read for somebody who would be refused. */
const smallBody = 65_536;

/**
 * Reads and checks the body. Funds and limits come before the body in the order of refusals, but they are decided at
 * admission, after it: so they are looked at beforehand where the body is long, and again where the body is wrong.
 */
export async function acceptInput(
  deps: RouteDeps,
  request: FastifyRequest,
  asked: { caller: Caller; model: Model; route: "sync" | "stream" | "async"; signal: AbortSignal },
): Promise<CheckedInput> {
  const { caller, model, route, signal } = asked;
  const length = request.headers["content-length"];
  if (length === undefined || Number(length) > smallBody)
    await deps.predictions.look({ caller, model, route, counts: false });
  try {
    return await deps.readInput({
      caller,
      model,
      extras: { user: route !== "sync", webhook: route === "async" },
      readForm: (options) => readMultipart(request.raw, options),
      signal,
    });
  } catch (error) {
    // A wrong request counts against the limits like a right one.
    if (error instanceof Fault && error.status === 422) {
      const rate = await deps.predictions.look({ caller, model, route, counts: true });
      Object.assign(error.headers, rateHeaders(rate));
    }
    throw error;
  }
}
