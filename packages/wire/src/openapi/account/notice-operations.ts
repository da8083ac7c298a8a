import { noticeRecord, noticeSettingsBody, noticeSettingsRecord, noticesQuery } from "../../notices.ts";
import { groupOf } from "../operation.ts";

export const noticeGroup = groupOf("/api/v2", {
  tag: "Notices",
  description:
    "Notices of a low balance and of budgets that are nearly spent. For a team, admins and owners see all, and members those of their own budget and keys. Not for keys limited to models.",
  fails: [403],
  operations: {
    listNotices: {
      method: "get",
      path: "/notices",
      summary: "List your notices",
      description: "Newest first. A notice appears within a minute.",
      answer: noticeRecord,
      list: "results",
      query: noticesQuery,
    },
    dismissNotice: {
      method: "delete",
      path: "/notices/{id}",
      summary: "Dismiss a notice",
      description:
        "Your console no longer shows it, nor do lists of open notices. Other members of a team still see it. It stays until it is resolved and expires.",
      status: 204,
    },
    readNoticeSettings: {
      method: "get",
      path: "/notices/settings",
      summary: "Read when notices are created",
      answer: noticeSettingsRecord,
    },
    putNoticeSettings: {
      method: "put",
      path: "/notices/settings",
      summary: "Change when notices are created, and which webhook receives them",
      description:
        "The webhook is signed and retried like those of predictions; its body has `type`, such as `notice.balance_low`, `timestamp` and `notice`. Not for keys with limits.",
      body: noticeSettingsBody,
      example: { balance_below: 5, budget_percent: 80, webhook: { url: "https://example.com/hook" } },
      answer: noticeSettingsRecord,
    },
  },
});
