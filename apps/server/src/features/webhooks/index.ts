export { openWebhooks, type Webhooks } from "./open-webhooks.ts";
export { addressOf } from "./send-delivery.ts";
export type { SendLimits } from "./send-slots.ts";
export { deleteEndedSecrets } from "./signing-secrets.ts";
export { startWebhookSender, type WebhookSender, type WebhookSenderDeps } from "./start-webhook-sender.ts";
export { deleteDeliveries, enqueueDeliveries, enqueueDelivery } from "./store.ts";
export type { Delivery, NewDelivery, SealedWebhook, Webhook, WebhookOwner } from "./webhook.ts";
