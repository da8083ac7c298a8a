import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

/** Invalidate it when a notice was dismissed or the settings have changed. */
export const noticesKey = ["notices"] as const;

const everyMs = 60_000;

/** The open notices that the banner has room for. */
export const openNoticesQuery = queryOptions({
  queryKey: [...noticesKey, "open"],
  queryFn: ({ signal }) => api.account.notices.list({ page_size: 3, signal }),
  refetchInterval: everyMs,
  staleTime: everyMs / 2,
});

export const noticeSettingsQuery = queryOptions({
  queryKey: [...noticesKey, "settings"],
  queryFn: ({ signal }) => api.account.notices.settings({ signal }),
});
