import { z } from "zod";

export const deliveryStatuses = ["pending", "delivered", "failed", "gone"] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** What narrows the list of deliveries, beside its page. */
export const deliveriesQuery = z.object({
  prediction_id: z.string().optional().describe("Only those of this prediction."),
  status: z.enum(deliveryStatuses).optional(),
});

export const deliveryRecord = z.strictObject({
  id: z.string().describe("The `webhook-id` header of every attempt."),
  prediction_id: z.string(),
  url: z.string(),
  status: z
    .enum(deliveryStatuses)
    .describe(
      "`pending`: to be sent, now or at `next_attempt_at`; `delivered`: answered with 2xx; `failed`: given up; `gone`: the receiver answered 410.",
    ),
  attempts: z
    .int()
    .describe("Those that came to a result, and those whose server died before it could write one down."),
  latency_ms: z.int().nullable().describe("Of the last attempt."),
  next_attempt_at: z.iso.datetime().nullable().describe("Null once it has ended, and while an attempt is under way."),
  last_error: z.string().nullable().describe("Of the last attempt; null when that was answered with 2xx."),
  created_at: z.iso.datetime(),
});
export type DeliveryRecord = z.infer<typeof deliveryRecord>;

export const webhookSecretsRecord = z.strictObject({
  secrets: z.array(z.string()).describe("Those that sign at this moment, newest first."),
});
export type WebhookSecretsRecord = z.infer<typeof webhookSecretsRecord>;
