import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { type Caller, scopeOf } from "../../features/accounts/index.ts";
import type { Model } from "../../features/models/index.ts";
import {
  checkIdempotencyKey,
  type EndedPrediction,
  isLost,
  leavesNoAnswer,
  storedFault,
} from "../../features/predictions/index.ts";
import { fault } from "../../kernel/errors.ts";
import type { DoorDeps } from "./deps.ts";

interface Repeatable<Answer> {
  caller: Caller;
  model: Model;
  signal: AbortSignal;
  /** Of a request that is several predictions: counts them, so that each is repeated by itself. */
  part?: number;
  /** Identifies the content of a body that is not JSON. */
  content?: string | undefined;
  /** `promisedId`: the prediction must run under it, and a client that leaves does not cancel it. */
  first(promisedId: string | undefined): Promise<Answer>;
  repeat(ended: EndedPrediction): Promise<Answer>;
}

/**
 * Runs a request, or answers a repeat of its Idempotency-Key with the stored result of the first request. Failures of the
 * first that may be retried are run again.
 */
export async function answerOnce<Answer>(
  { predictions }: Pick<DoorDeps, "predictions">,
  request: FastifyRequest,
  { caller, model, signal, part = 0, content, first, repeat }: Repeatable<Answer>,
): Promise<Answer> {
  const presented = checkIdempotencyKey(request.headers["idempotency-key"]);
  if (presented === undefined) return first(undefined);
  const key = part === 0 ? presented : createHash("sha256").update(`${part} ${presented}`).digest("hex");
  const modelName = model.endpointId;
  const fingerprint = createHash("sha256")
    .update(JSON.stringify([request.url, content ?? request.body]))
    .digest("hex");
  const asked = { ...scopeOf(caller), modelName, route: "sync" as const, key, fingerprint, signal };
  for (let isLast = false; ; isLast = true) {
    const started = await predictions.startIdempotent(asked);
    if (started.kind === "first") {
      try {
        return await first(started.predictionId);
      } catch (error) {
        await started.refused();
        throw error;
      }
    }
    const address = { ...scopeOf(caller), id: started.predictionId, modelName };
    const longestMs = (model.manifest.timeout_seconds + model.manifest.max_queue_seconds) * 1000;
    const ended = await predictions.awaitEnd(address, longestMs, signal);
    if (ended && !isLast && leavesNoAnswer(ended)) continue;
    if (!ended || isLost(ended))
      throw fault("service_unavailable", "The first request with this Idempotency-Key has no answer yet. Try again.");
    if (!ended.output) throw storedFault(ended.error) ?? fault("internal_server_error", "Internal server error");
    return repeat(ended);
  }
}
