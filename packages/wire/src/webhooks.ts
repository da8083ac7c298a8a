import { z } from "zod";
import { isWebAddress } from "./field-value-scalars.ts";
import { type RunWebhookEvent, runWebhookEvents } from "./run-webhooks.ts";
import type { ConfirmationRecord, RunRecord } from "./runs.ts";

export const deliveryStatuses = ["pending", "delivered", "failed", "gone"] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

export const deliveryKinds = ["prediction", "run", "notice", "test"] as const;

export const deliveriesQuery = z.object({
  prediction_id: z.string().optional().describe("Only deliveries of this prediction."),
  run_id: z.string().optional().describe("Only deliveries of this run."),
  notice_id: z.string().optional().describe("Only the delivery of this notice."),
  status: z.enum(deliveryStatuses).optional(),
});

export const deliveryRecord = z.strictObject({
  id: z.string().describe("The `webhook-id` header of every attempt."),
  kind: z.enum(deliveryKinds).describe("`test`: sent by `sendTestEvent`, once and without retries."),
  prediction_id: z
    .string()
    .nullable()
    .describe("Null for runs and notices; for test events an id that no prediction has."),
  run_id: z.string().nullable().describe("The run whose event is delivered; otherwise null."),
  notice_id: z.string().nullable().describe("The notice that is delivered; otherwise null."),
  event: z.enum(runWebhookEvents).nullable().describe("Of a run; otherwise null."),
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

const deliveryAttempt = z.strictObject({
  number: z.int().describe("Counted from 1."),
  at: z.iso.datetime().nullable().describe("When the attempt ended; null if its result was not stored."),
  status: z.int().nullable().describe("The status of the answer; null if none arrived."),
  error: z.string().nullable().describe("Null after a 2xx."),
  latency_ms: z.int().nullable(),
  response_body: z.string().nullable().describe("The first 4 KB of the answer."),
});

export const deliveryDetailsRecord = deliveryRecord.extend({
  headers: z
    .record(z.string(), z.string())
    .describe(
      "Sent with every attempt, beside `webhook-timestamp` and `webhook-signature`. Your own values are hidden.",
    ),
  payload: z.unknown().describe("The body. Download links in it are renewed for each attempt. Null if it was deleted."),
  attempt_log: z.array(deliveryAttempt).describe("The last 50 attempts, newest first."),
});
export type DeliveryDetailsRecord = z.infer<typeof deliveryDetailsRecord>;

export const sendTestEventBody = z.strictObject({
  url: z
    .string()
    .max(2_000)
    .refine(isWebAddress, "Must be an http or https URL without a user name or password")
    .describe("Where to send the event."),
});

export const webhookSecretsRecord = z.strictObject({
  secrets: z.array(z.string()).describe("Secrets that sign now, newest first."),
});
export type WebhookSecretsRecord = z.infer<typeof webhookSecretsRecord>;

/** The body of a delivery about a run. */
export interface RunWebhookPayload {
  type: `run.${RunWebhookEvent}`;
  /** When the event took place, as ISO 8601. */
  timestamp: string;
  /** As its caller reads it. */
  run: RunRecord;
  /** Set if the type is `run.confirmation_required`. */
  confirmation?: ConfirmationRecord;
  /** Fields that are too large for a webhook, and where to read them. */
  omitted?: { fields: string[]; url: string };
}
