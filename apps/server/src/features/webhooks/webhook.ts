import type { DeliveryStatus } from "@gantry/wire";

/** Where a prediction's end is to be told, as its caller gave it. */
export interface Webhook {
  url: string;
  headers: Record<string, string>;
  query_params: Record<string, string>;
}

/** A webhook as it is kept, from acceptance on: the headers and the address may hold credentials. */
export interface SealedWebhook {
  /** The origin of the address. */
  destination: string;
  target: Uint8Array;
}

/** To whom a sealed webhook belongs; it opens for nobody else. */
export interface WebhookOwner {
  userId: string;
  predictionId: string;
}

export interface NewDelivery extends WebhookOwner {
  /** `owner/model`. */
  modelName: string;
  webhook: SealedWebhook;
  /** Written as JSON once; attempts send the same bytes as long as nothing in it has run out. */
  payload: object;
  /** W3C traceparent of the request that it goes back to. */
  trace?: string | null;
}

/** A delivery as its owner sees it. */
export interface Delivery {
  id: string;
  predictionId: string;
  url: string;
  status: DeliveryStatus;
  attempts: number;
  latencyMs: number | null;
  nextAttemptAt: Date | null;
  lastError: string | null;
  createdAt: Date;
}
