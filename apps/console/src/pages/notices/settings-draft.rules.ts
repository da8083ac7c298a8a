import type { NoticeSettingsBody, NoticeSettingsRecord } from "@gantry/sdk";

/** As typed. Empty turns a notice or the webhook off. */
export interface SettingsDraft {
  below: string;
  percent: string;
  url: string;
}

export type DraftIssues = Partial<Record<keyof SettingsDraft, string | undefined>>;

export function draftOf({ balance_below, budget_percent, webhook }: NoticeSettingsRecord): SettingsDraft {
  return { below: String(balance_below ?? ""), percent: String(budget_percent ?? ""), url: webhook?.url ?? "" };
}

export function draftIssues({ below, percent }: SettingsDraft): DraftIssues {
  const share = Number(percent);
  const isShare = percent.trim() === "" || (Number.isInteger(share) && share >= 1 && share <= 100);
  return {
    ...(!(Number(below) >= 0) && { below: "Must be an amount in dollars, 0 or more" }),
    ...(!isShare && { percent: "Must be a whole number from 1 to 100" }),
  };
}

/** An address that is unchanged is not sent, so that its headers stay. */
export function settingsOf({ below, percent, url }: SettingsDraft, before: NoticeSettingsRecord): NoticeSettingsBody {
  const numberOf = (text: string) => (text.trim() === "" ? null : Number(text));
  const address = url.trim();
  return {
    balance_below: numberOf(below),
    budget_percent: numberOf(percent),
    ...(address !== (before.webhook?.url ?? "") && { webhook: address === "" ? null : { url: address } }),
  };
}
