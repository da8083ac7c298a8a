import type { Vault } from "../../engines/vault/vault.ts";
import type { SealedWebhook, Webhook, WebhookOwner } from "./webhook.ts";

const contextOf = ({ userId, predictionId }: WebhookOwner) => `webhook:${userId}:${predictionId}`;

/** To be called once, at acceptance; the sealed form then travels with the prediction into its delivery. */
export function sealWebhook(vault: Vault, owner: WebhookOwner, { url, headers, query_params }: Webhook): SealedWebhook {
  const target = vault.seal(JSON.stringify({ url, headers, query_params }), contextOf(owner));
  return { destination: new URL(url).origin, target };
}

export function openTarget(vault: Vault, owner: WebhookOwner, target: Uint8Array): Webhook {
  return JSON.parse(vault.open(target, contextOf(owner)));
}
