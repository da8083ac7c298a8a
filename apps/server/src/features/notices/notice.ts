import type { NoticeKind, NoticeRecord } from "@gantry/wire";
import { dollarsOfMicros, type Micros, microsOfDollars } from "../../kernel/money.ts";
import { messageOf } from "./message.rules.ts";

/** One thing whose money is low. */
export interface LowMoney {
  userId: string;
  kind: NoticeKind;
  /** Null: the balance. */
  keyId: string | null;
  period: string | null;
  /** The balance below which the account is notified, or the budget. */
  limitMicros: Micros;
  valueMicros: Micros;
}

export interface Notice extends Omit<LowMoney, "keyId"> {
  id: string;
  /** The username of the account. */
  owner: string;
  key: NoticeRecord["key"];
  createdAt: Date;
  resolvedAt: Date | null;
  /** By the person who reads it. */
  dismissedAt: Date | null;
}

export interface NoticeSettings {
  balanceBelowMicros: Micros | null;
  budgetPercent: number | null;
}

export const defaultSettings = {
  balanceBelowMicros: microsOfDollars(1),
  budgetPercent: 80,
} as const satisfies NoticeSettings;

export function noticeRecord(notice: Notice): NoticeRecord {
  return {
    id: notice.id,
    kind: notice.kind,
    owner: notice.owner,
    key: notice.key,
    period: notice.period,
    limit: dollarsOfMicros(notice.limitMicros),
    value: dollarsOfMicros(notice.valueMicros),
    message: messageOf(notice),
    created_at: notice.createdAt.toISOString(),
    resolved_at: notice.resolvedAt?.toISOString() ?? null,
    dismissed_at: notice.dismissedAt?.toISOString() ?? null,
  };
}
