import type { DeliveryDetailsRecord, DeliveryRecord, DeliveryStatus, WebhookSecretsRecord } from "@gantry/wire";
import { at } from "./address.ts";
import { eachOf, type Page, type PageQuery } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface DeliveryFilter {
  prediction_id?: string | undefined;
  run_id?: string | undefined;
  notice_id?: string | undefined;
  status?: DeliveryStatus | undefined;
}

/** Webhook deliveries, and the secrets that sign them. */
export interface Webhooks {
  /** One page, newest first. */
  deliveries(options?: DeliveryFilter & PageQuery & CallOptions): Promise<Page<DeliveryRecord>>;
  /** Iterates over all entries, newest first, page by page. */
  eachDelivery(options?: DeliveryFilter & CallOptions): AsyncGenerator<DeliveryRecord>;
  /** With its payload and its last 50 attempts. */
  delivery(deliveryId: string, options?: CallOptions): Promise<DeliveryDetailsRecord>;
  /** Sends a signed delivery of a made-up prediction to `url`, once and without retries. */
  sendTest(url: string, options?: CallOptions): Promise<DeliveryRecord>;
  /** Sends a delivery again with the same `webhook-id`. */
  resend(deliveryId: string, options?: CallOptions): Promise<DeliveryRecord>;
  /** Secrets that sign now, newest first. */
  secrets(options?: CallOptions): Promise<string[]>;
  /** Adds a secret; the previous one signs for another day. Returns the same as `secrets`. */
  rotateSecret(options?: CallOptions): Promise<string[]>;
}

export function webhooks({ json }: Transport): Webhooks {
  const all: Webhooks = {
    deliveries: async ({ signal, ...query } = {}) => json({ ...at("GET /api/v2/webhooks/deliveries"), query, signal }),
    eachDelivery: (options) =>
      eachOf(
        (range) => all.deliveries({ ...options, ...range }),
        ({ id }) => id,
      ),
    delivery: async (id, { signal } = {}) => json({ ...at("GET /api/v2/webhooks/deliveries/{id}", { id }), signal }),
    sendTest: async (url, { signal } = {}) => json({ ...at("POST /api/v2/webhooks/test"), json: { url }, signal }),
    resend: async (id, { signal } = {}) =>
      json({ ...at("POST /api/v2/webhooks/deliveries/{id}/resend", { id }), signal }),
    async secrets({ signal } = {}) {
      return (await json<WebhookSecretsRecord>({ ...at("GET /api/v2/webhooks/secret"), signal })).secrets;
    },
    async rotateSecret({ signal } = {}) {
      return (await json<WebhookSecretsRecord>({ ...at("POST /api/v2/webhooks/secret/rotate"), signal })).secrets;
    },
  };
  return all;
}
