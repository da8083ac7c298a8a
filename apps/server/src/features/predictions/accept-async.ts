import { newId } from "@gantry/wire";
import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Caller } from "../accounts/index.ts";
import type { Model } from "../models/index.ts";
import type { SealedWebhook, Webhook } from "../webhooks/index.ts";
import type { Admit, RateFigures } from "./admit-predictions.ts";
import type { CheckedInput } from "./input/index.ts";
import { dropInput, keepInput } from "./queued-input.ts";
import { reservationFor } from "./reserve.ts";

export interface AsyncDeps {
  blobs: BlobStore;
  admit: Admit;
  countTokens(text: string): Promise<number>;
  sealWebhook(owner: { userId: string; predictionId: string }, webhook: Webhook): SealedWebhook;
  wakeWorkers(): void;
}

export interface AsyncRequest {
  /** Given where it was promised to somebody before; made otherwise. */
  predictionId?: string;
  caller: Caller;
  model: Model;
  input: CheckedInput;
  base: string;
}

/** Queues a prediction: once this resolves it is committed, and will end whatever dies on the way. */
export async function acceptAsync(
  deps: AsyncDeps,
  { predictionId: id = newId("prediction"), caller, model, input, base }: AsyncRequest,
): Promise<{ predictionId: string; rate: RateFigures | undefined }> {
  const reservation = await reservationFor(model, input.input, deps.countTokens);
  const stored = await keepInput(deps.blobs, id, input);
  const webhook = input.webhook && deps.sealWebhook({ userId: caller.userId, predictionId: id }, input.webhook);
  try {
    const { rate } = await deps.admit({
      id,
      userId: caller.userId,
      keyId: caller.keyId,
      modelId: model.id,
      modelName: model.endpointId,
      route: "async",
      highPriority: input.user?.high_priority ?? false,
      holder: null,
      reservation,
      purpose: "run",
      queueSeconds: model.manifest.max_queue_seconds,
      queued: {
        input: JSON.stringify(stored),
        pricing: JSON.stringify(model.manifest.pricing),
        base_url: base,
        ...(webhook && {
          webhook_destination: webhook.destination,
          webhook_target: Buffer.from(webhook.target).toString("base64"),
        }),
      },
    });
    deps.wakeWorkers();
    return { predictionId: id, rate };
  } catch (error) {
    await dropInput(deps.blobs, stored);
    throw error;
  }
}
