import { z } from "zod";
import { managementPage } from "./account-queries.ts";
import { dollars } from "./dollars.ts";
import { choice } from "./query-schema.ts";
import { runWebhook } from "./run-webhooks.ts";

/** What is low. */
export const noticeKinds = ["balance_low", "budget_low", "budget_spent"] as const;
export type NoticeKind = (typeof noticeKinds)[number];

export const noticesQuery = managementPage.extend({
  status: choice(["open", "all"])
    .default("open")
    .describe("`open`: neither resolved nor dismissed by you. `all`: every notice that is kept."),
});

const amount = (of: string) => z.number().describe(`Dollars: ${of}`);

export const noticeRecord = z.object({
  id: z.string(),
  kind: z
    .enum(noticeKinds)
    .describe(
      "`balance_low`: the balance is below the threshold. `budget_low`: a key has spent the given percentage of its budget. `budget_spent`: all of it.",
    ),
  owner: z.string().describe("The user or team whose money it is."),
  key: z
    .object({
      id: z.string(),
      name: z.string(),
      member: z.string().nullable().describe("For a key of a team: the member who created it, or whose seat it is."),
      seat: z.boolean().describe("Whether the budget is that of the member, not of a single key."),
    })
    .nullable()
    .describe("The key whose budget it is. Null for the balance."),
  period: z
    .string()
    .nullable()
    .describe("The month or day of the budget in UTC, such as `2026-11` or `2026-11-18`. Null for the balance."),
  limit: amount("the threshold of the balance, or the budget when the notice was created."),
  value: amount(
    "the balance, or what was spent of the budget: now while the notice is open, afterwards as it was when it was created.",
  ),
  message: z.string().describe("A sentence for people, with the value."),
  created_at: z.iso.datetime(),
  resolved_at: z.iso
    .datetime()
    .nullable()
    .describe("When the balance or budget was no longer low, or the period was over."),
  dismissed_at: z.iso.datetime().nullable().describe("When you dismissed it."),
});
export type NoticeRecord = z.infer<typeof noticeRecord>;

export const noticeSettingsBody = z.strictObject({
  balance_below: dollars
    .nullable()
    .describe("Dollars. A notice is created when the balance falls below. Null: no notices about the balance."),
  budget_percent: z
    .int()
    .min(1)
    .max(100)
    .nullable()
    .describe("A notice is created when a key or member has spent this much of a budget. Null: none about budgets."),
  webhook: runWebhook
    .omit({ events: true })
    .nullable()
    .optional()
    .describe("Receives each new notice. Null: none. Omitted: unchanged."),
});
export type NoticeSettingsBody = z.infer<typeof noticeSettingsBody>;

export const noticeSettingsRecord = z.object({
  balance_below: z.number().nullable(),
  budget_percent: z.int().nullable(),
  webhook: z
    .object({ url: z.string().describe("Without the parameters that are added to it.") })
    .nullable()
    .describe("Headers and parameters are never returned."),
});
export type NoticeSettingsRecord = z.infer<typeof noticeSettingsRecord>;

/** The body of a delivery about a notice. */
export interface NoticeWebhookPayload {
  type: `notice.${NoticeKind}`;
  /** When the notice was created, as ISO 8601. */
  timestamp: string;
  /** As it was when it was created. */
  notice: NoticeRecord;
}
