import { errorTable } from "@gantry/wire";
import { modelOperations } from "@gantry/wire/operations";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Model } from "../../features/models/index.ts";
import { type RateFigures, type RunEnd, rateHeaders, streamedField } from "../../features/predictions/index.ts";
import { errorBody } from "../../kernel/error-body.ts";
import type { Fault } from "../../kernel/errors.ts";
import { watchClient } from "../foundation/client-presence.ts";
import { type EventStream, openEventStream } from "../foundation/event-stream.ts";
import { originOf } from "../foundation/request-origin.ts";
import { callerOf } from "../foundation/require-caller.ts";
import { rawRoute } from "../foundation/route.ts";
import { toFault } from "../foundation/to-fault.ts";
import { acceptInput } from "./accept-input.ts";
import { type ModelApiDeps, readsBody } from "./deps.ts";

/**
 * The events of a stream, each one `data:` line:
 *
 *   {prediction_id} ──► {output_data, status: 200}* ──► {output_data: {}, status: 200, stream_details}
 *                                          └──────────► {detail: […], status}          (failed or cancelled)
 */
export function streamRoute(app: FastifyInstance, deps: ModelApiDeps): void {
  rawRoute(app, [modelOperations.predictStream], readsBody, async (request, reply) => {
    const caller = await callerOf(request);
    const asked = await deps.models.resolveForCall(caller, request.params.owner, request.params.model);
    const client = watchClient(reply);
    const { input, model } = await acceptInput(deps, request, {
      caller,
      model: asked,
      route: "stream",
      signal: client.signal,
    });
    const contentEvent = contentEvents();
    let events: EventStream | undefined;
    try {
      const end = await deps.predictions.run({
        caller,
        model,
        route: "stream",
        input,
        origin: originOf(request),
        onLive: (live) => client.whenLeft(() => live.stop("left")),
        onAccepted: (id, rate) => {
          events = acknowledge(request, reply, id, rate);
        },
        onFragment: (field, text) => events?.send(contentEvent(field, text)),
      });
      if (events) await finish(deps, request, events, model, end);
    } catch (error) {
      if (!events) throw error;
      sendFailure(deps, request, events, toFault(error));
    } finally {
      events?.end();
      await input.dispose();
    }
  });
}

/** Sent at acceptance, also while the prediction waits for a slot. */
function acknowledge(
  request: FastifyRequest,
  reply: FastifyReply,
  predictionId: string,
  rate: RateFigures | undefined,
): EventStream {
  reply.hijack();
  const events = openEventStream(reply.raw, {
    "x-request-id": request.id,
    "x-prediction-id": predictionId,
    ...rateHeaders(rate),
  });
  events.send(JSON.stringify({ prediction_id: predictionId }));
  return events;
}

/** Events of one stream repeat the same field. */
function contentEvents(): (field: string, text: string) => string {
  let last: string | undefined;
  let beginning = "";
  return (field, text) => {
    if (field !== last) beginning = `{"output_data":{${JSON.stringify(field)}:[`;
    last = field;
    return `${beginning}${JSON.stringify(text)}]},"status":200}`;
  };
}

/** The status has been sent already, so the error handler cannot log server errors. */
function sendFailure({ log }: ModelApiDeps, request: FastifyRequest, events: EventStream, fault: Fault): void {
  if (fault.isServerError) log.error({ request_id: request.id, err: fault.cause ?? fault }, fault.message);
  // Headers have been sent already, and the type alone would say the opposite.
  const isOther = fault.retryable !== errorTable[fault.type].retryable;
  const retryable = isOther ? { retryable: fault.retryable } : {};
  events.send(JSON.stringify({ ...errorBody(fault, request.baseUrl), status: fault.status, ...retryable }));
}

async function finish(
  deps: ModelApiDeps,
  request: FastifyRequest,
  events: EventStream,
  model: Model,
  { predictionId, outcome }: RunEnd,
): Promise<void> {
  if (outcome.kind === "failed") return sendFailure(deps, request, events, outcome.fault);
  if (streamedField(model) === undefined) {
    const files = await deps.predictions.linksOf(predictionId, outcome.output, request.baseUrl);
    events.send(JSON.stringify({ output_data: outcome.output, status: 200, files }));
    return void events.send(JSON.stringify({ output_data: {}, status: 200 }));
  }
  events.send(JSON.stringify({ output_data: {}, status: 200, stream_details: outcome.streamDetails }));
}
