import { type DeliveryStatus, isId, type RunWebhookEvent } from "@gantry/wire";
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

/** A sealed webhook opens only for this user and prediction, run, event of a run or notice. */
export interface WebhookOwner {
  userId: string;
  predictionId: string;
}

/** The event of a run that a delivery is about. */
export interface RunEventKey {
  runId: string;
  event: RunWebhookEvent;
}

export interface NewDelivery extends WebhookOwner {
  /** `owner/model`, or `agents/creator/slug` for a run. */
  modelName: string;
  run?: RunEventKey;
  webhook: SealedWebhook;
  /** Serialised once: attempts send the same bytes until a link in it expires. */
  payload: object;
  /** W3C traceparent of the original request. */
  trace?: string | null;
}

export interface Delivery {
  id: string;
  /** For a run, a text for each of its events. */
  predictionId: string;
  runId: string | null;
  event: RunWebhookEvent | null;
  url: string;
  status: DeliveryStatus;
  attempts: number;
  latencyMs: number | null;
  nextAttemptAt: Date | null;
  lastError: string | null;
  createdAt: Date;
}

/** Deliveries of notices have the id of the notice instead of a prediction's. */
export const isOfNotice = ({ predictionId }: Pick<WebhookOwner, "predictionId">) => isId("notice", predictionId);

/** Test events have the id of an event instead of a prediction's. They are sent once. */
export const isTest = ({ predictionId }: Pick<WebhookOwner, "predictionId">) => isId("event", predictionId);

export interface DeliveryAttempt {
  number: number;
  /** Null if the result of the attempt was not stored. */
  at: Date | null;
  status: number | null;
  error: string | null;
  latencyMs: number | null;
  responseBody: string | null;
}

export interface DeliveryDetails extends Delivery {
  headers: Record<string, string>;
  /** Null if it was deleted. */
  payload: unknown;
  /** Newest first. */
  attemptLog: DeliveryAttempt[];
}

const contextOf = ({ userId, predictionId }: WebhookOwner) => `webhook:${userId}:${predictionId}`;

export function sealWebhook(vault: Vault, owner: WebhookOwner, { url, headers, query_params }: Webhook): SealedWebhook {
  const target = vault.seal(JSON.stringify({ url, headers, query_params }), contextOf(owner));
  return { destination: new URL(url).origin, target };
}

/** The original URL without user name and password. */
export function shownUrl(vault: Vault, owner: WebhookOwner, { destination, target }: SealedWebhook): string {
  try {
    const { url } = openTarget(vault, owner, target);
    const address = new URL(url);
    if (address.username === "" && address.password === "") return url;
    address.username = "";
    address.password = "";
    return address.href;
  } catch {
    return destination; // sealed with a key that this server no longer has
  }
}

export function openTarget(vault: Vault, owner: WebhookOwner, target: Uint8Array): Webhook {
  return JSON.parse(vault.open(target, contextOf(owner)));
}
