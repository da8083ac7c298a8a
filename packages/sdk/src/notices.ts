import type { NoticeRecord, NoticeSettingsBody, NoticeSettingsRecord } from "@gantry/wire";
import { at } from "./address.ts";
import { eachOf, type Page, type PageQuery } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface NoticeFilter {
  /** `open` by default: neither resolved nor dismissed by you. */
  status?: "open" | "all" | undefined;
}

/** Notices of a low balance and of budgets that are nearly spent. */
export interface Notices {
  /** One page, newest first. */
  list(options?: NoticeFilter & PageQuery & CallOptions): Promise<Page<NoticeRecord>>;
  /** Iterates over all entries, newest first, page by page. */
  each(options?: NoticeFilter & CallOptions): AsyncGenerator<NoticeRecord>;
  dismiss(id: string, options?: CallOptions): Promise<void>;
  settings(options?: CallOptions): Promise<NoticeSettingsRecord>;
  /** Without `webhook`, the webhook stays as it is; null removes it. */
  putSettings(settings: NoticeSettingsBody, options?: CallOptions): Promise<NoticeSettingsRecord>;
}

export function notices({ json, send }: Transport): Notices {
  const all: Notices = {
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /api/v2/notices"), query: { ...query }, signal }),
    each: (options) =>
      eachOf(
        (range) => all.list({ ...options, ...range }),
        ({ id }) => id,
      ),
    async dismiss(id, { signal } = {}) {
      await send({ ...at("DELETE /api/v2/notices/{id}", { id }), signal });
    },
    settings: async ({ signal } = {}) => json({ ...at("GET /api/v2/notices/settings"), signal }),
    putSettings: async (settings, { signal } = {}) =>
      json({ ...at("PUT /api/v2/notices/settings"), json: settings, signal }),
  };
  return all;
}
