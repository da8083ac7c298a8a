import { errorTable } from "@gantry/wire";
import { modelOperations } from "@gantry/wire/operations";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Caller, scopeOf } from "../../features/accounts/index.ts";
import type { Model } from "../../features/models/index.ts";
import {
  type CheckedInput,
  isLost,
  leavesNoAnswer,
  type PresentedKey,
  rateHeaders,
  type StoredOutput,
  storedFault,
  streamedField,
} from "../../features/predictions/index.ts";
import { fault } from "../../kernel/errors.ts";
import { type Client, watchClient } from "../foundation/client-presence.ts";
import { discardBody } from "../foundation/discard-body.ts";
import { originOf } from "../foundation/request-origin.ts";
import { callerOf } from "../foundation/require-caller.ts";
import { rawRoute } from "../foundation/route.ts";
import { acceptInput } from "./accept-input.ts";
import { acceptOnce } from "./accept-once.ts";
import { type ModelApiDeps, type OfModel, readsBody } from "./deps.ts";

const route = "sync";

/** Text models and models with a streamed output are only called through the stream route. */
function isStreamingOnly(model: Model): boolean {
  return model.manifest.kind === "text" || streamedField(model) !== undefined;
}

class Misdirected extends Error {}

interface SyncCall {
  deps: ModelApiDeps;
  request: FastifyRequest<OfModel>;
  reply: FastifyReply;
  caller: Caller;
  client: Client;
}

/** An accepted call. */
type OfModelCall = SyncCall & { model: Model };

export function predictRoute(app: FastifyInstance, deps: ModelApiDeps): void {
  rawRoute(app, [modelOperations.predict], readsBody, async (request, reply) => {
    const caller = await callerOf(request);
    const presented = request.headers["idempotency-key"];
    if (presented !== undefined)
      return runOnce({ deps, request, reply, caller, client: watchClient(reply) }, presented);
    const asked = await deps.models.resolveForCall(caller, request.params.owner, request.params.model);
    if (isStreamingOnly(asked)) return misdirected(request, reply);
    const client = watchClient(reply);
    const { input, model } = await acceptInput(deps, request, { caller, model: asked, route, signal: client.signal });
    try {
      return await runNow({ deps, request, reply, caller, model, client }, input, undefined);
    } finally {
      if (input.files.length > 0) await input.dispose();
    }
  });
}

/** `promisedId`: the id for a call with an Idempotency-Key. */
async function runNow(call: OfModelCall, input: CheckedInput, promisedId: string | undefined) {
  const { predictionId, outcome } = await call.deps.predictions.run({
    predictionId: promisedId,
    caller: call.caller,
    model: call.model,
    route,
    input,
    origin: originOf(call.request),
    // With an Idempotency-Key the run continues, and a repeat fetches its result.
    onLive: (live) => {
      if (promisedId === undefined) call.client.whenLeft(() => live.stop("left"));
    },
    onAccepted: (id, rate) => {
      call.reply.header("x-prediction-id", id);
      if (rate) call.reply.headers(rateHeaders(rate));
    },
  });
  if (outcome.kind === "failed") throw outcome.fault;
  return answer(call, predictionId, outcome.output, outcome.inferenceMs);
}

async function runOnce(call: SyncCall, presented: PresentedKey) {
  const { deps, request, reply, caller, client } = call;
  const refuseModel = (model: Model) => {
    if (isStreamingOnly(model)) throw new Misdirected();
  };
  const asking = { presented, caller, route, signal: client.signal, refuseModel } as const;
  return acceptOnce(deps, request, asking, {
    first: ({ model, input, predictionId }) => runNow({ ...call, model }, input, predictionId),
    repeat: ({ model, ...first }) => repeat({ ...call, model }, first),
  }).catch((error) => {
    if (error instanceof Misdirected) return misdirected(request, reply);
    throw error;
  });
}

/** Repeats the first answer, and waits for it if necessary. Undefined if the first left no answer. */
async function repeat(call: OfModelCall, { predictionId, isLast }: { predictionId: string; isLast: boolean }) {
  const { deps, caller, model, client, reply } = call;
  const address = { ...scopeOf(caller), id: predictionId, modelName: model.endpointId };
  const longest = (model.manifest.timeout_seconds + model.manifest.max_queue_seconds) * 1000;
  const ended = await deps.predictions.awaitEnd(address, longest, client.signal);
  if (ended && !isLast && leavesNoAnswer(ended)) return undefined;
  reply.headers(rateHeaders(await deps.predictions.rate({ caller, model, route })));
  if (!ended)
    throw fault("service_unavailable", "The first request with this Idempotency-Key has not ended. Try again.");
  if (isLost(ended))
    throw fault("service_unavailable", "The first request with this Idempotency-Key was lost. Try again.");
  reply.header("x-prediction-id", predictionId);
  if (!ended.output) throw storedFault(ended.error) ?? fault("internal_server_error", "Internal server error");
  return answer(call, predictionId, ended.output, ended.inferenceMs ?? 0);
}

async function answer({ deps, request }: SyncCall, id: string, output: StoredOutput, inferenceMs: number) {
  return {
    prediction_id: id,
    status: 200,
    output_data: output,
    inference_time: Math.round(inferenceMs) / 1000,
    files: await deps.predictions.linksOf(id, output, request.baseUrl),
  };
}

/** The specification answers this with 200 and a status code in the body. */
function misdirected(request: FastifyRequest<OfModel>, reply: FastifyReply): FastifyReply {
  const { owner, model } = request.params;
  discardBody(request.raw, reply.raw);
  return reply.header("x-service-retryable", "false").send({
    detail: `This model streams its output. Call POST /api/v1/${owner}/${model}/predict/stream/ instead.`,
    status_code: errorTable.misdirected_request.status,
  });
}
