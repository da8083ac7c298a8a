export { openWebhooks, type Webhooks } from "./open-webhooks.ts";
export { type RunEvent, storeRunWebhook } from "./run-events.ts";
export { addressOf, readWebhook } from "./send-delivery.ts";
export type { SendLimits } from "./send-slots.ts";
export { deleteEndedSecrets } from "./signing-secrets.ts";
export { startWebhookSender, type WebhookSender, type WebhookSenderDeps } from "./start-webhook-sender.ts";
export { deleteDeliveries, enqueueDeliveries, enqueueDelivery, erasePayload, eraseRunPayloads } from "./store.ts";
export type { Delivery, DeliveryDetails, NewDelivery, SealedWebhook, Webhook, WebhookOwner } from "./webhook.ts";
export { isOfNotice, isTest, openTarget, sealWebhook, shownUrl } from "./webhook.ts";
