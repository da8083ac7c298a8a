import { createHash } from "node:crypto";
import { newId } from "@gantry/wire";
import type { FastifyRequest } from "fastify";
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
import { findTarget } from "../doors/find-target.ts";
import { imageReaderFor } from "../doors/read-image.ts";
import { clientPresence } from "../foundation/client-presence.ts";
import { responseBody } from "./responses-body.ts";
import { type Conversation, type ResponseCall, readConversation } from "./responses-door.ts";

interface BackgroundCall extends ResponseCall {
  request: FastifyRequest;
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
  const turn = {
    ...nothingYet,
    status: "queued" as const,
    id: responseIdOf(predictionId),
    modelName,
    predictionId,
    endpointId: model.endpointId,
    previousId: asked.previousId ?? null,
    request: asked.repeated,
    createdAt: new Date(),
    endedAt: null,
  };
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
