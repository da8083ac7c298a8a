import type { NoticeSettingsBody, NoticeSettingsRecord } from "@gantry/wire";
import type { Database } from "../../engines/database/database.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import { dollarsOfMicros, type Micros, microsOfDollars } from "../../kernel/money.ts";
import type { Caller } from "../accounts/index.ts";
import { record } from "../audit/index.ts";
import { readWebhook, sealWebhook, shownUrl, type WebhookOwner } from "../webhooks/index.ts";
import { defaultSettings } from "./notice.ts";
import { findSettings, lockSettings, type StoredSettings, upsertSettings } from "./settings-store.ts";

export interface NoticesContext {
  database: Database;
  vault: Vault;
}

/** The webhook in the settings of an account is sealed for it; each delivery has its own copy. */
export const settingsOwner = (userId: string): WebhookOwner => ({ userId, predictionId: "notices" });

const withoutRow: StoredSettings = { ...defaultSettings, webhook: null };

export async function readSettings(context: NoticesContext, { userId }: Caller): Promise<NoticeSettingsRecord> {
  return shown(context, userId, (await findSettings(context.database.sql, userId)) ?? withoutRow);
}

export async function putSettings(
  context: NoticesContext,
  { userId, username }: Caller,
  { balance_below, budget_percent, webhook: given }: NoticeSettingsBody,
): Promise<NoticeSettingsRecord> {
  const { database, vault } = context;
  const webhook = given && sealWebhook(vault, settingsOwner(userId), readWebhook(given));
  return database.transaction(async (tx) => {
    const former = await lockSettings(tx, userId);
    const before = former ?? withoutRow;
    const after = {
      balanceBelowMicros: balance_below === null ? null : microsOfDollars(balance_below),
      budgetPercent: budget_percent,
      webhook: webhook === undefined ? before.webhook : webhook,
    };
    await upsertSettings(tx, userId, after);
    await record(tx, {
      action: "notice_settings.put",
      object: { id: userId, name: username },
      ownerId: userId,
      before: former && fieldsOf(former),
      after: fieldsOf(after),
    });
    return shown(context, userId, after);
  });
}

/** As the audit log shows them. Of the webhook only the origin: path and parameters may be secret. */
function fieldsOf({ balanceBelowMicros, budgetPercent, webhook }: StoredSettings) {
  return {
    balance_below: dollarsIfAny(balanceBelowMicros),
    budget_percent: budgetPercent,
    webhook: webhook?.destination ?? null,
  };
}

function shown({ vault }: NoticesContext, userId: string, settings: StoredSettings): NoticeSettingsRecord {
  const { balanceBelowMicros, budgetPercent, webhook } = settings;
  return {
    balance_below: dollarsIfAny(balanceBelowMicros),
    budget_percent: budgetPercent,
    webhook: webhook && { url: shownUrl(vault, settingsOwner(userId), webhook) },
  };
}

const dollarsIfAny = (micros: Micros | null) => (micros === null ? null : dollarsOfMicros(micros));
