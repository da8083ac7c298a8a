import { isId } from "@gantry/wire";
import { modelOperations } from "@gantry/wire/operations";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Caller, type Scope, scopeOf } from "../../features/accounts/index.ts";
import type { Model } from "../../features/models/index.ts";
import { type AsyncRequest, type PresentedKey, rateHeaders } from "../../features/predictions/index.ts";
import { fault, type Issue, throwIfAny } from "../../kernel/errors.ts";
import { clientPresence } from "../foundation/client-presence.ts";
import { discardBody } from "../foundation/discard-body.ts";
import { originOf } from "../foundation/request-origin.ts";
import { callerOf } from "../foundation/require-caller.ts";
import { rawRoute } from "../foundation/route.ts";
import { type AcceptedInput, acceptInput } from "./accept-input.ts";
import { acceptOnce } from "./accept-once.ts";
import { type ModelApiDeps, type OfModel, readsBody } from "./deps.ts";
import { sendJsonLines, wantsJsonLines } from "./json-lines.ts";

const maxWaitSeconds = 60;
const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const route = "async";

/** Queued predictions: accept, result, and the metrics of a model's queue. */
export function asyncRoutes(app: FastifyInstance, deps: ModelApiDeps): void {
  rawRoute(app, [modelOperations.predictAsync], readsBody, async (request, reply) => {
    const caller = await callerOf(request);
    const signal = clientPresence(reply);
    const call: AsyncCall = { deps, request, reply, caller, signal };
    const presented = request.headers["idempotency-key"];
    const { predictionId, model } = await (presented === undefined ? queueNow(call) : queueOnce(call, presented));
    reply.header("x-prediction-id", predictionId);
    if (wantsJsonLines(request.headers.accept)) {
      const address = { ...scopeOf(caller), id: predictionId, modelName: model.endpointId };
      return sendLines(deps, request, reply, address, signal);
    }
    return accepted(predictionId, model, request.baseUrl);
  });

  rawRoute(app, [modelOperations.readResult, modelOperations.readResultByPost], readsBody, async (request, reply) => {
    discardBody(request.raw, reply.raw);
    const caller = await callerOf(request);
    const { owner, model: name } = request.params;
    const query = request.query as Record<string, unknown>;
    const addressOf = (id: string) => ({ ...scopeOf(caller), id, modelName: `${owner}/${name}` });
    await deps.models.resolveForRun(caller, owner, name, async () => {
      const { request_id: id } = query;
      return typeof id === "string" && isId("prediction", id) && deps.predictions.isOwn(addressOf(id));
    });
    const { id, waitMs } = readQuery(query);
    const address = addressOf(id);
    const signal = clientPresence(reply);
    if (wantsJsonLines(request.headers.accept)) return sendLines(deps, request, reply, address, signal);
    const item = await deps.predictions.result(address, { waitMs, base: request.baseUrl, signal });
    return { inference_responses: [item] };
  });

  rawRoute(app, [modelOperations.readFlow], {}, async (request) => {
    const caller = await callerOf(request);
    const model = await deps.models.resolveForRead(caller, request.params.owner, request.params.model);
    const { accepted: arrived, ended, running, waiting } = await deps.predictions.flow(model.id);
    const perSecond = (count: number) => Math.round((count / 60) * 1000) / 1000;
    return {
      ingress_rate: perSecond(arrived),
      egress_rate: perSecond(ended),
      messages: waiting + running,
      messages_ready: waiting,
      messages_unacknowledged: running,
    };
  });
}

interface AsyncCall {
  deps: ModelApiDeps;
  request: FastifyRequest<OfModel>;
  reply: FastifyReply;
  caller: Caller;
  signal: AbortSignal;
}

interface Queued {
  predictionId: string;
  model: Model;
}

async function queueNow(call: AsyncCall): Promise<Queued> {
  const { deps, request, caller, signal } = call;
  const model = await deps.models.resolveForCall(caller, request.params.owner, request.params.model);
  return queue(call, await acceptInput(deps, request, { caller, model, route, signal }), {});
}

async function queueOnce(call: AsyncCall, presented: PresentedKey): Promise<Queued> {
  const { deps, request, reply, caller, signal } = call;
  return acceptOnce<Queued>(
    deps,
    request,
    { presented, caller, route, signal },
    {
      first: ({ predictionId, holdsKey, ...accepted }) => queue(call, accepted, { predictionId, holdsKey }),
      repeat: async ({ predictionId, model }) => {
        reply.headers(rateHeaders(await deps.predictions.rate({ caller, model, route })));
        return { predictionId, model };
      },
    },
  );
}

/** `promised`: the id for a call with an Idempotency-Key. */
async function queue(
  { deps, request, reply, caller }: AsyncCall,
  { input, model }: AcceptedInput,
  promised: Pick<AsyncRequest, "predictionId" | "holdsKey">,
): Promise<Queued> {
  try {
    const { predictionId, rate } = await deps.predictions.accept({
      ...promised,
      caller,
      model,
      input,
      base: request.baseUrl,
      origin: originOf(request),
    });
    reply.headers(rateHeaders(rate));
    return { predictionId, model };
  } finally {
    await input.dispose();
  }
}

function accepted(predictionId: string, model: Model, base: string): Record<string, unknown> {
  const address = `${base}/api/v1/${model.endpointId}/predict`;
  return {
    prediction_id: predictionId,
    status: 202,
    result_url: `${address}/async/result/?request_id=${predictionId}`,
    cancel_url: `${address}/cancel/?prediction_id=${predictionId}`,
  };
}

async function sendLines(
  deps: ModelApiDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  address: Scope & { id: string; modelName: string },
  signal: AbortSignal,
): Promise<void> {
  const events = deps.predictions.follow(address, { base: request.baseUrl, signal });
  // An unknown id gets an ordinary error, before the stream begins.
  const first = await events.next();
  async function* all() {
    // HEAD gets the headers of GET.
    if (request.method === "HEAD") return void (await events.return(undefined));
    if (!first.done) yield first.value;
    yield* events;
  }
  const headers = reply.header("x-prediction-id", address.id).getHeaders() as Record<string, string>;
  reply.hijack();
  await sendJsonLines(reply.raw, headers, all());
}

/** Everything wrong with the query comes in one fault; an invalid id is not found. */
function readQuery(query: Record<string, unknown>): { id: string; waitMs: number } {
  const { request_id: id, wait = "0" } = query;
  const issues = [idIssue(id), waitIssue(wait)].filter((issue) => issue !== undefined);
  throwIfAny(issues);
  if (typeof id !== "string" || !isId("prediction", id)) throw fault("not_found", "Prediction not found");
  return { id, waitMs: Number(wait) * 1000 };
}

/** A parameter given twice arrives as a list. */
function idIssue(id: unknown): Issue | undefined {
  const loc = ["query", "request_id"];
  if (id === undefined) return { type: "missing", loc, msg: "Field required" };
  return typeof id === "string" ? undefined : { type: "string_type", loc, msg: "Must be a single value", input: id };
}

function waitIssue(wait: unknown): Issue | undefined {
  const about = { loc: ["query", "wait"], input: wait };
  if (typeof wait !== "string" || !decimal.test(wait)) {
    return { ...about, type: "float_parsing", msg: "wait must be a number of seconds" };
  }
  if (Number(wait) < 0) {
    return { ...about, type: "greater_than_equal", msg: "wait must be at least 0 seconds", ctx: { ge: 0 } };
  }
  if (Number(wait) <= maxWaitSeconds) return undefined;
  const ctx = { le: maxWaitSeconds };
  return { ...about, type: "less_than_equal", msg: `wait must be at most ${maxWaitSeconds} seconds`, ctx };
}
