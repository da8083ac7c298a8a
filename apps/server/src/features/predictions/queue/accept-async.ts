import { type Door, newId } from "@gantry/wire";
import type { BlobStore } from "../../../engines/blobs/blobs.ts";
import type { Database } from "../../../engines/database/database.ts";
import type { Telemetry } from "../../../engines/telemetry/telemetry.ts";
import { Fault, isUnavailable } from "../../../kernel/errors.ts";
import type { Caller } from "../../accounts/index.ts";
import { reservationOf, type Terms } from "../../billing/index.ts";
import type { Model } from "../../models/index.ts";
import type { SealedWebhook, Webhook } from "../../webhooks/index.ts";
import type { Admit, RateFigures } from "../admission/admit-predictions.ts";
import { termsFor } from "../admission/reserve.ts";
import type { DoorChat } from "../execution/converse.ts";
import { KeyTakenOver } from "../idempotency/idempotency.ts";
import type { CheckedInput } from "../input/index.ts";
import { deleteInput, storeInput } from "../input/stored-input.ts";
import type { ArrivingPrediction, SlotReservation } from "../prediction.ts";
import { insertTrace, isKnown } from "../store.ts";
import { planQueuedChat } from "./queued-chat.ts";

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
}

export interface AsyncRequest {
  /** Set if the id was promised before, under an Idempotency-Key. */
  predictionId?: string;
  /** Checked right before admission, under an Idempotency-Key. If false, KeyTakenOver is thrown. */
  holdsKey?(): Promise<boolean>;
  caller: Caller;
  model: Model;
  /** A conversation has no fields of the model's manifest. */
  input: CheckedInput | { chat: DoorChat };
  base: string;
  door?: Door | undefined;
}

/** Workers that take the prediction over later count on from here. */
const firstClaim = 1;

/**
 * Queues a prediction. Once this resolves, the prediction is committed and will end whatever dies on the way. If this node
 * has a free slot and the queue is empty, the prediction starts here in the same commit.
 */
export async function acceptAsync(
  deps: AsyncDeps,
  { predictionId: id = newId("prediction"), holdsKey, caller, model, input: asked, base, door }: AsyncRequest,
): Promise<{ predictionId: string; rate: RateFigures | undefined }> {
  const { terms, input } = await planQueued(deps, model, asked);
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
    const { backends, bounds } = terms;
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
      purpose: "run",
      queueSeconds: model.manifest.max_queue_seconds,
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

async function planQueued(
  deps: AsyncDeps,
  model: Model,
  asked: AsyncRequest["input"],
): Promise<{ terms: Terms; input: Omit<CheckedInput, "dispose"> }> {
  if ("chat" in asked) return planQueuedChat(deps, model, asked.chat);
  return { terms: await termsFor(model.manifest, asked.input, deps.countTokens), input: asked };
}

async function mayBeKnown(database: Database, id: string, error: unknown): Promise<boolean> {
  const isAnswered = error instanceof Fault && !isUnavailable(error);
  return !isAnswered && (await isKnown(database.sql, id).catch(() => true));
}
