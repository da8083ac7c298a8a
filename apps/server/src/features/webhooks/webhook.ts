import type { DeliveryStatus } from "@gantry/wire";
import type { Vault } from "../../engines/vault/vault.ts";

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

const contextOf = ({ userId, predictionId }: WebhookOwner) => `webhook:${userId}:${predictionId}`;

/** To be called once, at acceptance; the sealed form then travels with the prediction into its delivery. */
export function sealWebhook(vault: Vault, owner: WebhookOwner, { url, headers, query_params }: Webhook): SealedWebhook {
  const target = vault.seal(JSON.stringify({ url, headers, query_params }), contextOf(owner));
  return { destination: new URL(url).origin, target };
}

export function openTarget(vault: Vault, owner: WebhookOwner, target: Uint8Array): Webhook {
  return JSON.parse(vault.open(target, contextOf(owner)));
}
