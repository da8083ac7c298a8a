import type { CreateKeyBody, ExpensesRecord, KeyRecord, MeRecord, UsageRecord } from "@gantry/wire";
import { segment, withQuery } from "./address.ts";
import { eachOf, type Page, type PageQuery } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Both ends belong to the range. A text without a zone is UTC. */
export interface UsageRange {
  from_date?: Date | string | undefined;
  to_date?: Date | string | undefined;
}

export interface Account {
  me(options?: CallOptions): Promise<MeRecord>;
  /** One page, newest first. */
  usage(options?: UsageRange & PageQuery & CallOptions): Promise<Page<UsageRecord>>;
  /** All of it, newest first, read page by page as the loop goes on. */
  eachUsage(options?: UsageRange & CallOptions): AsyncGenerator<UsageRecord>;
  /** All of it as a table, a line a request, that arrives as `body` is read. */
  usageCsv(options?: UsageRange & CallOptions): Promise<Response>;
  /** Of the caller, or for an admin of `username`; the last seven days unless the range says otherwise. */
  expenses(
    options?: {
      username?: string | undefined;
      start_date?: Date | string | undefined;
      end_date?: Date | string | undefined;
      page?: number | undefined;
    } & CallOptions,
  ): Promise<ExpensesRecord>;
  keys: {
    list(options?: PageQuery & CallOptions): Promise<Page<KeyRecord>>;
    /** All of them, newest first, read page by page as the loop goes on. */
    each(options?: CallOptions): AsyncGenerator<KeyRecord>;
    /** The answer has the whole key in `key`, this once. */
    create(key?: CreateKeyBody, options?: CallOptions): Promise<KeyRecord>;
    revoke(id: string, options?: CallOptions): Promise<void>;
    /** A new secret under the same id; the old one works for `grace_seconds` more, 0 by default. */
    rotate(id: string, options?: { grace_seconds?: number | undefined } & CallOptions): Promise<KeyRecord>;
  };
}

export function account({ json, send, download }: Transport): Account {
  const get = async <T>(path: string, signal: AbortSignal | undefined) => json<T>({ method: "GET", path, signal });
  const keyPath = (id: string) => `/api/v2/keys/${segment(id)}`;
  const all: Account = {
    me: ({ signal } = {}) => get("/api/v2/me", signal),
    usage: ({ signal, ...query } = {}) => get(withQuery("/api/v2/usage", { ...query }), signal),
    eachUsage(options = {}) {
      let until = options.to_date;
      return eachOf(
        async (range) => {
          const page = await all.usage({ ...options, ...(until && { to_date: until }), ...range });
          // By the service's clock: what is used while the loop goes on is newer, and moves no page.
          if (range.page === 1) until = page.results[0]?.created_at ?? until;
          return page;
        },
        ({ request_id }) => request_id,
      );
    },
    usageCsv: async ({ signal, ...query } = {}) =>
      download({
        method: "GET",
        path: withQuery("/api/v2/usage", { ...query }),
        headers: { accept: "text/csv" },
        signal,
      }),
    async expenses({ username, signal, ...query } = {}) {
      const whose = username ?? (await all.me({ signal })).username;
      return get(withQuery(`/${segment(whose)}/expenses/`, query), signal);
    },
    keys: {
      list: ({ signal, ...query } = {}) => get(withQuery("/api/v2/keys", { ...query }), signal),
      each: (options) =>
        eachOf(
          (range) => all.keys.list({ ...options, ...range }),
          ({ id }) => id,
        ),
      create: (key = {}, { signal } = {}) => json({ method: "POST", path: "/api/v2/keys", json: key, signal }),
      async revoke(id, { signal } = {}) {
        await send({ method: "DELETE", path: keyPath(id), signal });
      },
      async rotate(id, { signal, ...wanted } = {}) {
        return json({ method: "POST", path: `${keyPath(id)}/rotate`, json: wanted, signal });
      },
    },
  };
  return all;
}
