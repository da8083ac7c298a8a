import { newId } from "@gantry/wire";
import type { BlobStore } from "../../../engines/blobs/blobs.ts";
import type { Database } from "../../../engines/database/database.ts";
import type { Telemetry } from "../../../engines/telemetry/telemetry.ts";
import { Fault } from "../../../kernel/errors.ts";
import type { Caller } from "../../accounts/index.ts";
import { reservationOf } from "../../billing/index.ts";
import type { Model } from "../../models/index.ts";
import type { SealedWebhook, Webhook } from "../../webhooks/index.ts";
import type { Admit, RateFigures } from "../admission/admit-predictions.ts";
import { termsFor } from "../admission/reserve.ts";
import { KeyTakenOver } from "../idempotency/idempotency.ts";
import type { CheckedInput } from "../input/index.ts";
import { dropInput, keepInput } from "../input/stored-input.ts";
import { type ArrivingPrediction, insertTrace, isKnown, type SlotReservation } from "../store.ts";

export interface AsyncDeps {
  database: Database;
  blobs: BlobStore;
  admit: Admit;
  countTokens(text: string): Promise<number>;
  sealWebhook(owner: { userId: string; predictionId: string }, webhook: Webhook): SealedWebhook;
  wakeWorkers(): void;
  /** A hand of this node, if it is a worker and one is free. */
  reserveSlot(): SlotReservation | undefined;
  telemetry: Telemetry;
}

export interface AsyncRequest {
  /** Given where it was promised to somebody before; made otherwise. */
  predictionId?: string;
  /** Asked last before it is admitted, where it was promised under an Idempotency-Key; otherwise KeyTakenOver is thrown. */
  holdsKey?(): Promise<boolean>;
  caller: Caller;
  model: Model;
  input: CheckedInput;
  base: string;
}

/** Its first; a worker that takes it over later counts on. */
const firstClaim = 1;

/**
 * Queues a prediction: once this resolves it is committed, and will end whatever dies on the way. Where this node has a
 * free hand and nobody waits before it, it starts here with the same commit.
 */
export async function acceptAsync(
  deps: AsyncDeps,
  { predictionId: id = newId("prediction"), holdsKey, caller, model, input, base }: AsyncRequest,
): Promise<{ predictionId: string; rate: RateFigures | undefined }> {
  const terms = await termsFor(model.manifest, input.input, deps.countTokens);
  const stored = await keepInput(deps.blobs, id, input);
  const webhook = input.webhook && deps.sealWebhook({ userId: caller.userId, predictionId: id }, input.webhook);
  const hand = deps.reserveSlot();
  let isBegun = false;
  try {
    // Files may have taken so long to the store that this request was taken for dead.
    if (holdsKey && !(await holdsKey())) throw new KeyTakenOver();
    deps.telemetry.concerns(id, "async");
    const trace = deps.telemetry.traceparent();
    if (trace !== undefined) await insertTrace(deps.database.sql, id, trace);
    const arrival: ArrivingPrediction = {
      id,
      userId: caller.userId,
      keyId: caller.keyId,
      modelId: model.id,
      modelName: model.endpointId,
      route: "async",
      highPriority: input.user?.high_priority ?? false,
      reservation: reservationOf(terms),
      purpose: "run",
      queueSeconds: model.manifest.max_queue_seconds,
      handFree: hand !== undefined,
      queued: {
        input: JSON.stringify(stored),
        pricing: JSON.stringify(terms.pricing),
        bounds: JSON.stringify(terms.bounds),
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
    if (starts && hand) {
      isBegun = true;
      hand.begin({
        id,
        claim: firstClaim,
        userId: caller.userId,
        modelId: model.id,
        modelName: model.endpointId,
        input: stored,
        ...terms,
        acceptedAt: new Date().toISOString(),
        waitedMs: 0,
        hasWebhook: webhook !== undefined,
        trace: trace ?? null,
      });
    } else deps.wakeWorkers();
    return { predictionId: id, rate };
  } catch (error) {
    // No answer is no refusal: what was accepted after all needs its files.
    if (!(await mayBeKnown(deps.database, id, error))) await dropInput(deps.blobs, id, stored);
    throw error;
  } finally {
    if (!isBegun) hand?.giveBack();
  }
}

async function mayBeKnown(database: Database, id: string, error: unknown): Promise<boolean> {
  const isAnswered = error instanceof Fault && error.type !== "service_unavailable";
  return !isAnswered && (await isKnown(database.sql, id).catch(() => true));
}
