import { newId } from "@gantry/wire";
import { doorOperations } from "@gantry/wire/operations";
import type { FastifyReply } from "fastify";
import { type Caller, scopeOf } from "../../features/accounts/index.ts";
import { countWrongInput, rateHeaders } from "../../features/predictions/index.ts";
import type { Item } from "../../features/responses/index.ts";
import { fault } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { answerChat } from "../doors/answer-chat.ts";
import { fieldOf, optionalNumber } from "../doors/body-fields.ts";
import { holdMemory } from "../doors/body-memory.ts";
import type { DoorDeps } from "../doors/deps.ts";
import type { DoorRoutes } from "../doors/doors.ts";
import { findReachable, findTarget } from "../doors/find-target.ts";
import { holdStream } from "../doors/held-stream.ts";
import { callerOf } from "../foundation/require-caller.ts";
import { rawRoute, route } from "../foundation/route.ts";
import { answerInBackground } from "./responses-background.ts";
import { responseBody } from "./responses-body.ts";
import { type ResponseCall, readConversation, responsesDoor } from "./responses-door.ts";
import { asksNothing } from "./responses-input.ts";
import { type ResponseRequest, readResponseRequest } from "./responses-request.ts";

const { createResponse, readResponse, deleteResponse, cancelResponse, listResponseInput } = doorOperations;

/** Responses of the OpenAI protocol: created, and read, continued, cancelled and deleted where they are stored. */
export const responsesRoutes: DoorRoutes = (app, deps) => {
  rawRoute(app, [createResponse], {}, async (request, reply) => {
    const { body } = request;
    if (!isRecord(body)) throw fault("json_invalid", "The body must be a JSON object.");
    const caller = await callerOf(request);
    const takeMemory = (bytes: number) => void holdMemory(deps.bodies, caller.userId, reply, bytes);
    const call = { deps, reply, caller, takeMemory, asked: await readCounted(deps, caller, body) };
    const modelName = String(body.model);
    if (call.asked.store)
      await deps.files.refuseBeyondQuota(caller.userId, Number(request.headers["content-length"] ?? 1));
    if (call.asked.previousId === undefined && asksNothing(call.asked.items)) return answerNothing(call, body.model);
    if (call.asked.background) return answerInBackground({ ...call, request, modelName });
    return answerChat(deps, responsesDoor(call), request, reply);
  });

  route(app, readResponse, async ({ caller, params, query }) => {
    const asked: Record<string, unknown> = isRecord(query) ? query : {};
    if (asked.stream === "true")
      throw fault("value_error", "Stored responses are not streamed. Leave stream out.", { loc: ["query", "stream"] });
    const include = [asked.include, asked["include[]"]].flat();
    const turn = await deps.responses.find(scopeOf(caller), params.response_id);
    return responseBody(turn, include.includes("reasoning.encrypted_content"));
  });

  route(app, deleteResponse, async ({ caller, params: { response_id: id } }) => {
    await deps.responses.delete(scopeOf(caller), id);
    return { id, object: "response", deleted: true as const };
  });

  route(app, cancelResponse, async ({ caller, params }) =>
    responseBody(await deps.responses.cancel(scopeOf(caller), params.response_id), false),
  );

  route(app, listResponseInput, async ({ caller, params: { response_id: id }, query }) => {
    const items = await deps.responses.inputOf(scopeOf(caller), id);
    return pageOf(
      items.map((item, index) => withId(item, id, index)),
      isRecord(query) ? query : {},
    );
  });
};

interface RoutedCall extends ResponseCall {
  deps: DoorDeps;
  reply: FastifyReply;
}

/** An invalid request counts for the rate limit. One that names no model of the caller is refused for that. */
async function readCounted(deps: DoorDeps, caller: Caller, body: Record<string, unknown>): Promise<ResponseRequest> {
  try {
    return readResponseRequest(body);
  } catch (error) {
    const target = await findTarget(deps, { caller, name: body.model }, ["text"]);
    const read = () => Promise.reject(error);
    return target.kind === "agent"
      ? read()
      : countWrongInput(deps.predictions.look, { caller, model: target.model, route: "sync" }, read);
  }
}

/** Some clients send a request without a question to open a connection. No model is called. */
async function answerNothing(call: RoutedCall, name: unknown): Promise<unknown> {
  const { deps, caller, reply, asked } = call;
  const model = await findReachable(deps, { caller, name });
  if (model) reply.headers(rateHeaders(await deps.predictions.look({ caller, model, route: "sync", counts: true })));
  const conversation = await readConversation(call);
  const end = {
    id: newId("response"),
    modelName: String(name),
    createdAt: new Date(),
    reply: { text: "", reasoning: "", toolCalls: [], stop: "end" as const },
    usage: { inputTokens: 0, outputTokens: 0 },
  };
  await conversation.settle?.(end);
  return asked.stream ? sendStream(reply, conversation.events(end).end(end)) : conversation.answer(end);
}

async function sendStream(reply: FastifyReply, events: string): Promise<FastifyReply> {
  const stream = holdStream(reply);
  await stream.write(events);
  stream.end();
  return reply;
}

/** Items that the client sent without an id. */
function withId(item: Item, responseId: string, index: number): Item {
  return { ...item, id: item.id ?? `item_${responseId.slice("resp_".length)}_${index}` };
}

function pageOf(items: readonly Item[], query: Record<string, unknown>) {
  const given = query.limit === undefined ? {} : { limit: Number(query.limit) };
  const limit = optionalNumber(fieldOf(given, "limit", ["query"]), { from: 1, to: 100, whole: true }) ?? 20;
  const ordered = query.order === "asc" ? items : items.toReversed();
  const after = ordered.findIndex(({ id }) => id === query.after);
  const data = ordered.slice(after + 1, after + 1 + limit);
  return {
    object: "list" as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: after + 1 + limit < ordered.length,
  };
}
