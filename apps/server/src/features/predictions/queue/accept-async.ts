import { type Door, newId } from "@gantry/wire";
import type { BlobStore } from "../../../engines/blobs/blobs.ts";
import type { Database } from "../../../engines/database/database.ts";
import type { Telemetry } from "../../../engines/telemetry/telemetry.ts";
import { Fault, isUnavailable } from "../../../kernel/errors.ts";
import type { Caller } from "../../accounts/index.ts";
import { reservationOf, type Terms, termsInBatch } from "../../billing/index.ts";
import type { Model } from "../../models/index.ts";
import type { SealedWebhook, Webhook } from "../../webhooks/index.ts";
import { type Admit, hasTokenLimit, type RateFigures, tokensOf } from "../admission/admit-predictions.ts";
import { termsFor } from "../admission/reserve.ts";
import type { DoorChat } from "../execution/converse.ts";
import { keptTexts } from "../execution/embed.ts";
import { keepsInput } from "../execution/run-prediction.ts";
import { KeyTakenOver } from "../idempotency/idempotency.ts";
import type { CheckedInput } from "../input/index.ts";
import { deleteInput, describedInput, storeInput } from "../input/stored-input.ts";
import { keptChat } from "../kept/kept-chat.rules.ts";
import { decodableJson, type KeptRequest, keptOf, type RequestOrigin } from "../kept/kept-input.rules.ts";
import type { ArrivingPrediction, SlotReservation } from "../prediction.ts";
import { insertTrace, isKnown } from "../store.ts";
import { planQueuedChat } from "./queued-chat.ts";
import { planQueuedEmbedding, type QueuedEmbedding } from "./queued-embedding.ts";

export interface AsyncDeps {
  database: Database;
  blobs: BlobStore;
  admit: Admit;
  countTokens(text: string): Promise<number>;
  estimateTokens(text: string): Promise<number>;
  sealWebhook(owner: { userId: string; predictionId: string }, webhook: Webhook): SealedWebhook;
  wakeWorkers(): void;
  /** Undefined if this node is not a worker or has no free slot. */
  reserveSlot(): SlotReservation | undefined;
  telemetry: Telemetry;
  /** Whether this server keeps inputs with results. */
  keepsInputs: boolean;
}

export interface AsyncRequest {
  /** Set if the id was promised before, under an Idempotency-Key. */
  predictionId?: string;
  /** Checked right before admission, under an Idempotency-Key. If false, KeyTakenOver is thrown. */
  holdsKey?(): Promise<boolean>;
  caller: Caller;
  model: Model;
  /** Conversations and texts to embed have no fields of the model's manifest. */
  input: CheckedInput | { chat: DoorChat } | { embedding: QueuedEmbedding };
  /** Set for a line of a batch, which waits longer than other predictions and may cost less. */
  batch?: { queueSeconds: number };
  base: string;
  door?: Door | undefined;
  origin?: RequestOrigin | undefined;
}

/** Workers that take the prediction over later count on from here. */
const firstClaim = 1;

/**
 * Queues a prediction. Once this resolves, the prediction is committed and will end whatever dies on the way. If this node
 * has a free slot and the queue is empty, the prediction starts here in the same commit.
 */
export async function acceptAsync(
  deps: AsyncDeps,
  { predictionId, holdsKey, caller, model, input: asked, base, door, origin, batch }: AsyncRequest,
): Promise<{ predictionId: string; rate: RateFigures | undefined }> {
  const id = predictionId ?? newId("prediction");
  const { terms: usual, input } = await planQueued(deps, { caller, model }, asked);
  const terms = batch ? termsInBatch(usual, model.manifest.pricing.batch_factor) : usual;
  const stored = await storeInput(deps.blobs, id, input);
  const webhook = input.webhook && deps.sealWebhook({ userId: caller.userId, predictionId: id }, input.webhook);
  const slot = deps.reserveSlot();
  let isBegun = false;
  try {
    // Storing the files may have taken so long that a repeat took the key.
    if (holdsKey && !(await holdsKey())) throw new KeyTakenOver();
    deps.telemetry.concerns(id, "async");
    const trace = deps.telemetry.traceparent();
    if (trace !== undefined) await insertTrace(deps.database.sql, id, trace);
    const { backends } = terms;
    const bounds = { ...terms.bounds, ...keptWith(deps, { id, caller, model, asked, stored, origin }) };
    const pricing = backends ? { ...terms.pricing, backends } : terms.pricing;
    const arrival: ArrivingPrediction = {
      id,
      userId: caller.userId,
      keyId: caller.keyId,
      modelId: model.id,
      modelName: model.endpointId,
      route: "async",
      door,
      highPriority: input.user?.high_priority ?? false,
      reservation: reservationOf(terms),
      tokens: tokensOf(caller, terms),
      promised: predictionId !== undefined,
      purpose: "run",
      queueSeconds: batch?.queueSeconds ?? model.manifest.max_queue_seconds,
      hasSlot: slot !== undefined,
      queued: {
        input: JSON.stringify(stored),
        pricing: JSON.stringify(pricing),
        bounds: JSON.stringify(bounds),
        baseUrl: base,
        ...(webhook && {
          webhookDestination: webhook.destination,
          webhookTarget: Buffer.from(webhook.target).toString("base64"),
        }),
      },
    };
    const { rate, starts } = await deps.telemetry.inSpan(
      () => ({ name: "admission", kind: "producer" }),
      () => deps.admit(arrival),
    );
    if (starts && slot) {
      isBegun = true;
      slot.begin({
        id,
        claim: firstClaim,
        userId: caller.userId,
        modelId: model.id,
        modelName: model.endpointId,
        input: stored,
        pricing,
        bounds,
        acceptedAt: new Date().toISOString(),
        waitedMs: 0,
        hasWebhook: webhook !== undefined,
        trace: trace ?? null,
      });
    } else deps.wakeWorkers();
    return { predictionId: id, rate };
  } catch (error) {
    // A lost reply is not a refusal: if the prediction was accepted, it needs its files.
    if (!(await mayBeKnown(deps.database, id, error))) await deleteInput(deps.blobs, id, stored);
    throw error;
  } finally {
    if (!isBegun) slot?.giveBack();
  }
}

/**
 * Stored with the bounds, because nodes of the version before pass every field of the input to the model. `kept` is set only
 * where the queued input is not what is kept.
 */
function keptWith(
  deps: AsyncDeps,
  {
    id,
    asked,
    stored,
    origin,
    ...call
  }: Pick<AsyncRequest, "caller" | "model" | "origin"> & {
    id: string;
    asked: AsyncRequest["input"];
    stored: Record<string, unknown>;
  },
): { request?: KeptRequest; kept?: Record<string, unknown> } {
  if (!origin) return {};
  const toKeep = () => {
    if ("chat" in asked) return keptChat(asked.chat);
    return "embedding" in asked ? keptTexts(asked.embedding) : describedInput(id, stored);
  };
  const { request, input } = keptOf(
    origin.id,
    keepsInput(deps, call, origin) ? toKeep : undefined,
    deps.telemetry.traceId(),
  );
  const isOther = "chat" in asked || "embedding" in asked || request.truncated;
  return { request, ...(input !== undefined && isOther && { kept: JSON.parse(decodableJson(input)) }) };
}

async function planQueued(
  deps: AsyncDeps,
  { caller, model }: Pick<AsyncRequest, "caller" | "model">,
  asked: AsyncRequest["input"],
): Promise<{ terms: Terms; input: Omit<CheckedInput, "dispose"> }> {
  const mustCount = hasTokenLimit(caller);
  if ("chat" in asked) return planQueuedChat(deps, model, asked.chat, mustCount);
  if ("embedding" in asked) return planQueuedEmbedding(deps, model, asked.embedding, mustCount);
  return { terms: await termsFor(model.manifest, asked.input, deps.countTokens, mustCount), input: asked };
}

async function mayBeKnown(database: Database, id: string, error: unknown): Promise<boolean> {
  const isAnswered = error instanceof Fault && !isUnavailable(error);
  return !isAnswered && (await isKnown(database.sql, id).catch(() => true));
}
