import type { Database } from "../../engines/database/database.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import type { Clock } from "../../kernel/clock.ts";
import { fault } from "../../kernel/errors.ts";
import type { Scope } from "../accounts/index.ts";
import { createSigningSecrets } from "./signing-secrets.ts";
import { type DeliveryFilter, type ListedRow, markForResend, selectDeliveries } from "./store.ts";
import {
  type Delivery,
  openTarget,
  type SealedWebhook,
  sealWebhook,
  type Webhook,
  type WebhookOwner,
} from "./webhook.ts";

export interface Webhooks {
  /** Call it when the prediction is accepted: webhooks are stored sealed. */
  seal(owner: WebhookOwner, webhook: Webhook): SealedWebhook;
  /** Newest first. */
  list(
    scope: Scope,
    filter: DeliveryFilter,
    range: { limit: number; offset: number },
  ): Promise<{ deliveries: Delivery[]; total: number }>;
  /** In any status, under the same id and with a new retry schedule. */
  resend(scope: Scope, id: string): Promise<Delivery>;
  /** Secrets that sign now, newest first. */
  secrets(userId: string): Promise<string[]>;
  rotateSecret(userId: string): Promise<string[]>;
}

export function openWebhooks(deps: { database: Database; vault: Vault; clock: Clock }): Webhooks {
  const { database, vault } = deps;
  const signing = createSigningSecrets(deps);

  function toDelivery({ userId: _owner, destination: _origin, target: _sealed, ...row }: ListedRow, url: string) {
    return { ...row, url };
  }

  /** The original URL without user name and password. */
  function urlOf(row: ListedRow): string {
    try {
      const { url } = openTarget(vault, row, row.target);
      const address = new URL(url);
      if (address.username === "" && address.password === "") return url;
      address.username = "";
      address.password = "";
      return address.href;
    } catch {
      return row.destination; // sealed with a key that this server no longer has
    }
  }

  return {
    seal: (owner, webhook) => sealWebhook(vault, owner, webhook),
    async list(scope, filter, range) {
      const { rows, total } = await selectDeliveries(database.sql, scope, filter, range);
      return { deliveries: rows.map((row) => toDelivery(row, urlOf(row))), total };
    },
    async resend(scope, id) {
      const row = await markForResend(database.sql, scope, id);
      if (!row) throw fault("not_found", "Delivery not found");
      return toDelivery(row, urlOf(row));
    },
    secrets: async (userId) => signing.open((await signing.liveOf([userId])).get(userId) ?? []),
    rotateSecret: (userId) => signing.rotate(userId),
  };
}
