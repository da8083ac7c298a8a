import type { Sql, Transaction } from "../../engines/database/database.ts";
import type { SealedWebhook } from "../webhooks/index.ts";
import type { NoticeSettings } from "./notice.ts";

export interface StoredSettings extends NoticeSettings {
  webhook: SealedWebhook | null;
}

/** Until the transaction ends, the settings of the account do not change. */
export async function lockSettings(tx: Transaction, userId: string): Promise<StoredSettings | undefined> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`gantry.notices.${userId}`}, 0))`;
  return findSettings(tx, userId);
}

export async function findSettings(sql: Sql, userId: string): Promise<StoredSettings | undefined> {
  const [row] = await sql<(NoticeSettings & { destination: string | null; target: Uint8Array | null })[]>`
    select balance_below_micros as "balanceBelowMicros", budget_percent as "budgetPercent",
      webhook_destination as destination, webhook_target as target
    from notice_settings where user_id = ${userId}`;
  if (!row) return undefined;
  const { destination, target, ...settings } = row;
  return { ...settings, webhook: destination !== null && target !== null ? { destination, target } : null };
}

export async function upsertSettings(
  tx: Transaction,
  userId: string,
  { balanceBelowMicros, budgetPercent, webhook }: StoredSettings,
): Promise<void> {
  await tx`
    insert into notice_settings (user_id, balance_below_micros, budget_percent, webhook_destination, webhook_target)
    values (${userId}, ${balanceBelowMicros}, ${budgetPercent}, ${webhook?.destination ?? null},
      ${(webhook?.target as Buffer | undefined) ?? null})
    on conflict (user_id) do update set balance_below_micros = excluded.balance_below_micros,
      budget_percent = excluded.budget_percent, webhook_destination = excluded.webhook_destination,
      webhook_target = excluded.webhook_target`;
}
