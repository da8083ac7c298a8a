import { doorOperations } from "@gantry/wire/operations";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import type { Model } from "../../features/models/index.ts";
import { rateHeaders } from "../../features/predictions/index.ts";
import { fault } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { answerChat } from "../doors/answer-chat.ts";
import type { DoorDeps } from "../doors/deps.ts";
import { findTarget } from "../doors/find-target.ts";
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
  const model = await findModel(deps, caller, body.model);
  if (model) reply.headers(rateHeaders(await deps.predictions.look({ caller, model, route: "sync", counts: true })));
  const { native } = readRequest(body, request);
  const signal = clientPresence(reply);
  const counted = { caller, model, native: { ...native, protocol: "anthropic" as const }, signal };
  return { input_tokens: await deps.predictions.countInput(counted) };
}

/** Undefined for an agent that the caller may run. */
async function findModel(deps: DoorDeps, caller: Caller, name: unknown): Promise<Model | undefined> {
  const target = await findTarget(deps, { caller, name }, ["text"]);
  if (target.kind === "model") return target.model;
  const { agent, revision } = await deps.agents.getRunnable(caller.userId, target.address);
  if (await deps.agents.keyReachesAgent(caller, agent, revision.snapshot)) return undefined;
  throw fault("not_found", "The agent does not exist, or this key may not run it.", { loc: ["body", "model"] });
}
