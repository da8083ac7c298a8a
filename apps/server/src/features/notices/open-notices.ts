import { isId, type NoticeSettingsBody, type NoticeSettingsRecord } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import { type Caller, type Page, scopeOf } from "../accounts/index.ts";
import type { Notice } from "./notice.ts";
import { type NoticesContext, putSettings, readSettings } from "./settings.ts";
import { insertDismissal, type Reader, selectLowBalances, selectNotices } from "./store.ts";

export interface Notices {
  /** Newest first. `onlyOpen`: neither resolved nor dismissed by the person who reads. */
  list(caller: Caller, query: { onlyOpen: boolean; limit: number; offset: number }): Promise<Page<Notice>>;
  /** Hides a notice from the person. Others still see it. */
  dismiss(caller: Caller, id: string): Promise<void>;
  readSettings(caller: Caller): Promise<NoticeSettingsRecord>;
  putSettings(caller: Caller, body: NoticeSettingsBody): Promise<NoticeSettingsRecord>;
  /** Which of the users have an open notice about their balance. */
  lowBalances(userIds: readonly string[]): Promise<ReadonlySet<string>>;
}

export function openNotices(context: NoticesContext): Notices {
  const { sql } = context.database;
  return {
    list: (caller, query) => selectNotices(sql, readerOf(caller), query),
    async dismiss(caller, id) {
      const isKnown = isId("notice", id) && (await insertDismissal(sql, readerOf(caller), id));
      if (!isKnown) throw fault("not_found", "Notice not found");
    },
    readSettings: (caller) => readSettings(context, caller),
    putSettings: (caller, body) => putSettings(context, caller, body),
    lowBalances: async (userIds) => new Set(await selectLowBalances(sql, userIds)),
  };
}

function readerOf(caller: Caller): Reader {
  return { scope: scopeOf(caller), personId: caller.team?.member.userId ?? caller.userId };
}
