import { z } from "zod";

/**
 * pending: to be sent, now or at `next_attempt_at`; delivered: answered with 2xx; failed: given up;
 * gone: the receiver answered 410.
 */
export const deliveryStatuses = ["pending", "delivered", "failed", "gone"] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** What narrows the list of deliveries, beside its page. */
export const deliveriesQuery = z.object({
  prediction_id: z.string().optional(),
  status: z.enum(deliveryStatuses).optional(),
});

export const deliveryRecord = z.strictObject({
  /** The `webhook-id` header of every attempt. */
  id: z.string(),
  prediction_id: z.string(),
  url: z.string(),
  status: z.enum(deliveryStatuses),
  /** Those that came to a result. */
  attempts: z.int(),
  /** Of the last attempt. */
  latency_ms: z.int().nullable(),
  /** Null once it has ended, and while an attempt is under way. */
  next_attempt_at: z.iso.datetime().nullable(),
  /** Of the last attempt; null when that was answered with 2xx. */
  last_error: z.string().nullable(),
  created_at: z.iso.datetime(),
});
export type DeliveryRecord = z.infer<typeof deliveryRecord>;

/** Those that sign at this moment, newest first. */
export const webhookSecretsRecord = z.strictObject({ secrets: z.array(z.string()) });
export type WebhookSecretsRecord = z.infer<typeof webhookSecretsRecord>;
