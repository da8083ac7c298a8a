import { createHash } from "node:crypto";
import { newId } from "@gantry/wire";
import type { FastifyReply, FastifyRequest } from "fastify";
import { scopeOf } from "../../features/accounts/index.ts";
import type { Model } from "../../features/models/index.ts";
import {
  checkIdempotencyKey,
  countWrongInput,
  type DoorChat,
  KeyTakenOver,
  rateHeaders,
} from "../../features/predictions/index.ts";
import { nothingYet, responseIdOf } from "../../features/responses/index.ts";
import { fault } from "../../kernel/errors.ts";
import { readerOfExtras } from "../doors/backend-types.ts";
import type { DoorDeps } from "../doors/deps.ts";
import { findTarget } from "../doors/find-target.ts";
import { imageReaderFor } from "../doors/read-image.ts";
import { clientPresence } from "../foundation/client-presence.ts";
import { originOf } from "../foundation/request-origin.ts";
import { responseBody } from "./responses-body.ts";
import { type Conversation, type ResponseCall, readConversation } from "./responses-door.ts";
import type { ResponseRequest } from "./responses-request.ts";

interface BackgroundCall extends ResponseCall {
  deps: DoorDeps;
  request: FastifyRequest;
  reply: FastifyReply;
  modelName: string;
}

interface Queued {
  model: Model;
  input: Conversation["input"];
  chat: DoorChat;
}

/** Queues a conversation and answers at once. */
export async function answerInBackground(call: BackgroundCall): Promise<Record<string, unknown>> {
  const { deps, caller, reply, request, asked, modelName } = call;
  const target = await findTarget(deps, { caller, name: modelName }, ["text"]);
  if (target.kind === "agent")
    throw fault("value_error", "Agents do not answer in the background here. Create a run instead.", {
      loc: ["body", "background"],
    });
  const { model } = target;
  const signal = clientPresence(reply);
  const queued = await countWrongInput(deps.predictions.look, { caller, model, route: "async" }, async () => {
    const { input, translate } = await readConversation(call);
    const chat = await translate(imageReaderFor(deps, { caller, reply, signal }), readerOfExtras(model));
    return { model, input, chat: { ...chat, ...(asked.maxTokens !== undefined && { maxTokens: asked.maxTokens }) } };
  });
  const key = checkIdempotencyKey(request.headers["idempotency-key"]);
  if (key === undefined) return accept(call, queued, { predictionId: newId("prediction") });
  const fingerprint = createHash("sha256")
    .update(JSON.stringify([request.url, request.body]))
    .digest("hex");
  const scope = scopeOf(caller);
  const once = { ...scope, modelName: model.endpointId, route: "async" as const, key, fingerprint, signal };
  for (;;) {
    const started = await deps.predictions.startIdempotent(once);
    if (started.kind === "repeat") {
      reply.header("x-gantry-prediction-id", started.predictionId);
      const turn = await deps.responses.find(scope, responseIdOf(started.predictionId));
      return responseBody(turn, asked.includesSealed);
    }
    try {
      return await accept(call, queued, started);
    } catch (error) {
      if (error instanceof KeyTakenOver) continue;
      await started.refused();
      throw error;
    }
  }
}

/** The response is stored first: once the prediction is accepted, its answer must have a place. */
async function accept(
  { deps, caller, reply, request, asked, modelName }: BackgroundCall,
  { model, input, chat }: Queued,
  { predictionId, holdsKey }: { predictionId: string; holdsKey?(): Promise<boolean> },
): Promise<Record<string, unknown>> {
  const turn = queuedTurn(asked, { predictionId, modelName, endpointId: model.endpointId });
  await deps.responses.save(caller, { ...turn, input });
  try {
    const { rate } = await deps.predictions.accept({
      predictionId,
      ...(holdsKey && { holdsKey }),
      caller,
      model,
      input: { chat },
      base: request.baseUrl,
      door: "openai-responses",
      origin: originOf(request),
    });
    reply.headers({ ...rateHeaders(rate), "x-gantry-prediction-id": predictionId });
  } catch (error) {
    const address = { ...scopeOf(caller), id: predictionId, modelName: model.endpointId };
    // A lost reply is not a refusal.
    const isRefused = await deps.predictions.state(address).then(
      (state) => state === undefined,
      () => false,
    );
    if (isRefused) await deps.responses.discard(caller, turn.id).catch(() => {});
    throw error;
  }
  return responseBody(turn, asked.includesSealed);
}

/** The stored form of a response that a worker writes later. */
export function queuedTurn(
  { previousId, repeated }: Pick<ResponseRequest, "previousId" | "repeated">,
  named: { predictionId: string; modelName: string; endpointId: string },
) {
  return {
    ...nothingYet,
    ...named,
    status: "queued" as const,
    id: responseIdOf(named.predictionId),
    previousId: previousId ?? null,
    request: repeated,
    createdAt: new Date(),
    endedAt: null,
  };
}
