import { doorOperations } from "@gantry/wire/operations";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { rateHeaders } from "../../features/predictions/index.ts";
import { fault } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { answerChat } from "../doors/answer-chat.ts";
import type { DoorDeps } from "../doors/deps.ts";
import { findReachable } from "../doors/find-target.ts";
import { clientPresence } from "../foundation/client-presence.ts";
import { callerOf } from "../foundation/require-caller.ts";
import { rawRoute } from "../foundation/route.ts";
import { messagesDoor, readRequest } from "./messages-door.ts";

const { createMessage, countMessageTokens } = doorOperations;

export function messagesRoutes(app: FastifyInstance, deps: DoorDeps): void {
  rawRoute(app, [createMessage], {}, (request, reply) => answerChat(deps, messagesDoor, request, reply));
  rawRoute(app, [countMessageTokens], {}, (request, reply) => countTokens(deps, request, reply));
}

async function countTokens(deps: DoorDeps, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const caller = await callerOf(request);
  const { body } = request;
  if (!isRecord(body)) throw fault("json_invalid", "The body must be a JSON object.");
  const model = await findReachable(deps, { caller, name: body.model });
  if (model) reply.headers(rateHeaders(await deps.predictions.look({ caller, model, route: "sync", counts: true })));
  const { native } = readRequest(body, request);
  const signal = clientPresence(reply);
  const counted = { caller, model, native: { ...native, protocol: "anthropic" as const }, signal };
  return { input_tokens: await deps.predictions.countInput(counted) };
}
