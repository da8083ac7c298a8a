import { z } from "zod";

export const deliveryStatuses = ["pending", "delivered", "failed", "gone"] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

export const deliveriesQuery = z.object({
  prediction_id: z.string().optional().describe("Only deliveries of this prediction."),
  status: z.enum(deliveryStatuses).optional(),
});

export const deliveryRecord = z.strictObject({
  id: z.string().describe("The `webhook-id` header of every attempt."),
  prediction_id: z.string(),
  url: z.string(),
  status: z
    .enum(deliveryStatuses)
    .describe(
      "`pending`: will be sent, now or at `next_attempt_at`; `delivered`: answered with 2xx; `failed`: no more retries; `gone`: the receiver answered 410.",
    ),
  attempts: z.int().describe("Completed attempts, and attempts whose server died before it stored a result."),
  latency_ms: z.int().nullable().describe("Latency of the last attempt."),
  next_attempt_at: z.iso.datetime().nullable().describe("Null after the last attempt, and during an attempt."),
  last_error: z.string().nullable().describe("Error of the last attempt; null after a 2xx."),
  created_at: z.iso.datetime(),
});
export type DeliveryRecord = z.infer<typeof deliveryRecord>;

export const webhookSecretsRecord = z.strictObject({
  secrets: z.array(z.string()).describe("Secrets that sign now, newest first."),
});
export type WebhookSecretsRecord = z.infer<typeof webhookSecretsRecord>;
