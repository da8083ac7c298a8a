export { dropDeliveriesBefore } from "./drop-deliveries.ts";
export { enqueueDeliveries, enqueueDelivery } from "./enqueue-deliveries.ts";
export { openWebhooks, type Webhooks } from "./open-webhooks.ts";
export { addressOf } from "./request.rules.ts";
export type { SendLimits } from "./send-quotas.ts";
export { startWebhookSender, type WebhookSender, type WebhookSenderDeps } from "./start-webhook-sender.ts";
export type { Delivery, NewDelivery, SealedWebhook, Webhook, WebhookOwner } from "./webhook.ts";
