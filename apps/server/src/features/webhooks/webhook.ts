import type { DeliveryStatus } from "@gantry/wire";
import type { Vault } from "../../engines/vault/vault.ts";

/** As the caller gave it. */
export interface Webhook {
  url: string;
  headers: Record<string, string>;
  query_params: Record<string, string>;
}

/** As stored: headers and URL may contain credentials. */
export interface SealedWebhook {
  /** Origin of the URL. */
  destination: string;
  target: Uint8Array;
}

/** A sealed webhook opens only for this user and prediction. */
export interface WebhookOwner {
  userId: string;
  predictionId: string;
}

export interface NewDelivery extends WebhookOwner {
  /** `owner/model`. */
  modelName: string;
  webhook: SealedWebhook;
  /** Serialised once: attempts send the same bytes until a link in it expires. */
  payload: object;
  /** W3C traceparent of the original request. */
  trace?: string | null;
}

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

const contextOf = ({ userId, predictionId }: WebhookOwner) => `webhook:${userId}:${predictionId}`;

export function sealWebhook(vault: Vault, owner: WebhookOwner, { url, headers, query_params }: Webhook): SealedWebhook {
  const target = vault.seal(JSON.stringify({ url, headers, query_params }), contextOf(owner));
  return { destination: new URL(url).origin, target };
}

export function openTarget(vault: Vault, owner: WebhookOwner, target: Uint8Array): Webhook {
  return JSON.parse(vault.open(target, contextOf(owner)));
}
