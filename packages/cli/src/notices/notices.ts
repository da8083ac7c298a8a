import type { NoticeRecord, NoticeSettingsBody, NoticeSettingsRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { ago, money } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";
import { countOf, dollarsOf } from "../frame/moment.rules.ts";
import type { Output } from "../frame/output.ts";

export async function listNotices(context: Context): Promise<number> {
  const { account } = await context.client();
  const status = context.text("status") as "open" | "all" | undefined;
  return printList<NoticeRecord>(
    context,
    account.notices.each({ status, signal: context.signal }),
    [
      { title: "id", value: ({ id }) => id },
      { title: "created", value: ({ created_at }) => ago(created_at) },
      { title: "resolved", value: ({ resolved_at }) => ago(resolved_at) },
      { title: "notice", value: ({ message }) => message },
    ],
    "You have no notices.",
  );
}

export async function dismissNotice({ words: [id = ""], flag, out, client, signal }: Context): Promise<number> {
  await (await client()).account.notices.dismiss(id, { signal });
  if (flag("json")) out.json({ id, dismissed: true });
  else out.line(`Dismissed ${id}.`);
  return 0;
}

export async function noticeSettings(context: Context): Promise<number> {
  const { flag, out, client, signal } = context;
  const { notices } = (await client()).account;
  const change = changeOf(context);
  const current = await notices.settings({ signal });
  const { balance_below, budget_percent } = current;
  const settings =
    Object.keys(change).length === 0
      ? current
      : await notices.putSettings({ balance_below, budget_percent, ...change }, { signal });
  if (flag("json")) out.json(settings);
  else print(out, settings);
  return 0;
}

/** Turns a notice or the webhook off. */
const none = "none";

function changeOf({ text }: Pick<Context, "text">): Partial<NoticeSettingsBody> {
  const [below, percent, url] = [text("balance-below"), text("budget-percent"), text("webhook")];
  const unlessNone = <T>(given: string, read: () => T): T | null => (given === none ? null : read());
  return {
    ...(below !== undefined && { balance_below: unlessNone(below, () => dollarsOf("balance-below", below) ?? 0) }),
    ...(percent !== undefined && { budget_percent: unlessNone(percent, () => countOf("budget-percent", percent)) }),
    ...(url !== undefined && { webhook: unlessNone(url, () => ({ url })) }),
  };
}

function print(out: Output, { balance_below, budget_percent, webhook }: NoticeSettingsRecord): void {
  out.line(`Balance below: ${balance_below === null ? none : money(balance_below)}`);
  out.line(`Budget used: ${budget_percent === null ? none : `${budget_percent}%`}`);
  out.line(`Webhook: ${webhook?.url ?? none}`);
}
