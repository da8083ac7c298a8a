import type {
  AccountDeletionRecord,
  AuditRecord,
  ChangeKeyBody,
  ChangePasswordBody,
  CreateKeyBody,
  ExpensesRecord,
  KeyRecord,
  LedgerEntryRecord,
  MeRecord,
  SeriesGroup,
  SeriesMetric,
  SeriesRecord,
  SeriesStep,
  SignedInSessionRecord,
  SignInLinkRecord,
  UsageRecord,
} from "@gantry/wire";
import { at, segment } from "./address.ts";
import { type Notices, notices } from "./notices.ts";
import { eachOf, eachOfThePast, type Page, type PageQuery, type TimeRange } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface SeriesQuery extends TimeRange {
  /** `queue`, `running` and `nodes` need `scope: "service"`. */
  metric: SeriesMetric;
  /** Default: minutes up to 3 hours, hours up to 3 days, otherwise days. */
  step?: SeriesStep | undefined;
  /** The 8 largest groups, and the rest as `other`. */
  group_by?: SeriesGroup | undefined;
  /** Only this model, as `owner/model`. */
  model?: string | undefined;
  key_id?: string | undefined;
  mode?: UsageRecord["route"] | undefined;
  /** All users together. Only for admins. */
  scope?: "own" | "service" | undefined;
  /** Another user. Only for admins. */
  username?: string | undefined;
}

export interface OwnAuditFilter extends TimeRange {
  /** The beginning of the action, such as `key` or `key.create`. */
  action?: string | undefined;
  /** An id or name of anything in the record. */
  q?: string | undefined;
}

export interface ExportOptions {
  /** `false` leaves out the contents of files and drives. */
  files?: boolean | undefined;
}

export interface Account {
  me(options?: CallOptions): Promise<MeRecord>;
  /** Deletes your account. Your username confirms it. */
  delete(confirmation: { username: string }, options?: CallOptions): Promise<AccountDeletionRecord>;
  /** One page, newest first. */
  usage(options?: TimeRange & PageQuery & CallOptions): Promise<Page<UsageRecord>>;
  /** Iterates over all entries, newest first, page by page. */
  eachUsage(options?: TimeRange & CallOptions): AsyncGenerator<UsageRecord>;
  /** Everything as CSV, one line per request, streamed as you read `body`. */
  usageCsv(options?: TimeRange & CallOptions): Promise<Response>;
  /** All your data as a `.tar.gz`, streamed as you read `body`. Its last file, `manifest.json`, shows that it is complete. */
  export(options?: ExportOptions & CallOptions): Promise<Response>;
  /** Your own, or as an admin those of `username`. Default: the last seven days. */
  expenses(
    options?: {
      username?: string | undefined;
      start_date?: Date | string | undefined;
      end_date?: Date | string | undefined;
      page?: number | undefined;
    } & CallOptions,
  ): Promise<ExpensesRecord>;
  /** Figures over time, by minute, hour or day in UTC. Default: the last 24 hours. */
  series(query: SeriesQuery & CallOptions): Promise<SeriesRecord>;
  /** One page of wallet entries, newest first: credits, deductions, charges and income. */
  ledger(options?: TimeRange & PageQuery & CallOptions): Promise<Page<LedgerEntryRecord>>;
  /** Iterates over all entries, newest first, page by page. */
  eachLedgerEntry(options?: TimeRange & CallOptions): AsyncGenerator<LedgerEntryRecord>;
  /** One page of what concerns your account in the audit log, newest first. */
  audit(options?: OwnAuditFilter & PageQuery & CallOptions): Promise<Page<AuditRecord>>;
  /** Iterates over all records, newest first, page by page. */
  eachAuditRecord(options?: OwnAuditFilter & CallOptions): AsyncGenerator<AuditRecord>;
  keys: {
    list(options?: PageQuery & CallOptions): Promise<Page<KeyRecord>>;
    /** Iterates over all entries, newest first, page by page. */
    each(options?: CallOptions): AsyncGenerator<KeyRecord>;
    /** The answer shows the key once, in `key`. */
    create(key?: CreateKeyBody, options?: CallOptions): Promise<KeyRecord>;
    /** Send only the fields to change; null removes a limit. */
    update(id: string, change: ChangeKeyBody, options?: CallOptions): Promise<KeyRecord>;
    revoke(id: string, options?: CallOptions): Promise<void>;
    /** Creates a new secret with the same id. The old one works for `grace_seconds` more, 0 by default. */
    rotate(id: string, options?: { grace_seconds?: number | undefined } & CallOptions): Promise<KeyRecord>;
  };
  /** Notices of low money. */
  notices: Notices;
  /** Sign-ins to the console. */
  sessions: {
    list(options?: PageQuery & CallOptions): Promise<Page<SignedInSessionRecord>>;
    revoke(id: string, options?: CallOptions): Promise<void>;
    /** Ends all but the session of this client. API keys keep working. */
    revokeOthers(options?: CallOptions): Promise<void>;
  };
  /** Ends your other sessions. */
  changePassword(change: ChangePasswordBody, options?: CallOptions): Promise<void>;
  /** A link that signs you in to the console, once and within 15 minutes. */
  makeSignInLink(options?: CallOptions): Promise<SignInLinkRecord>;
}

export function account(transport: Transport): Account {
  const { json, send, download } = transport;
  const all: Account = {
    me: async ({ signal } = {}) => json({ ...at("GET /api/v2/me"), signal }),
    delete: async ({ username }, { signal } = {}) => json({ ...at("DELETE /api/v2/me"), json: { username }, signal }),
    usage: async ({ signal, ...query } = {}) => json({ ...at("GET /api/v2/usage"), query: { ...query }, signal }),
    eachUsage: (options = {}) =>
      eachOfThePast(
        (range) => all.usage({ ...options, ...range }),
        ({ request_id }) => request_id,
        options.to_date,
      ),
    usageCsv: async ({ signal, ...query } = {}) =>
      download({ ...at("GET /api/v2/usage"), query: { ...query }, headers: { accept: "text/csv" }, signal }),
    export: async ({ files, signal } = {}) => download({ ...at("GET /api/v2/export"), query: { files }, signal }),
    async expenses({ username, signal, ...query } = {}) {
      const whose = username ?? (await all.me({ signal })).username;
      return json({ method: "GET", path: `/${segment(whose)}/expenses/`, query, signal });
    },
    series: async ({ signal, ...query }) => json({ ...at("GET /api/v2/series"), query: { ...query }, signal }),
    ledger: async ({ signal, ...query } = {}) => json({ ...at("GET /api/v2/ledger"), query: { ...query }, signal }),
    eachLedgerEntry: (options = {}) =>
      eachOfThePast(
        (range) => all.ledger({ ...options, ...range }),
        ({ id }) => String(id),
        options.to_date,
      ),
    audit: async ({ signal, ...query } = {}) => json({ ...at("GET /api/v2/audit"), query: { ...query }, signal }),
    eachAuditRecord: (options = {}) =>
      eachOfThePast(
        (range) => all.audit({ ...options, ...range }),
        ({ seq }) => String(seq),
        options.to_date,
      ),
    keys: {
      list: async ({ signal, ...query } = {}) => json({ ...at("GET /api/v2/keys"), query: { ...query }, signal }),
      each: (options) =>
        eachOf(
          (range) => all.keys.list({ ...options, ...range }),
          ({ id }) => id,
        ),
      create: async (key = {}, { signal } = {}) => json({ ...at("POST /api/v2/keys"), json: key, signal }),
      update: async (id, change, { signal } = {}) =>
        json({ ...at("PATCH /api/v2/keys/{id}", { id }), json: change, signal }),
      async revoke(id, { signal } = {}) {
        await send({ ...at("DELETE /api/v2/keys/{id}", { id }), signal });
      },
      async rotate(id, { signal, ...wanted } = {}) {
        return json({ ...at("POST /api/v2/keys/{id}/rotate", { id }), json: wanted, signal });
      },
    },
    notices: notices(transport),
    sessions: {
      list: async ({ signal, ...query } = {}) => json({ ...at("GET /api/v2/sessions"), query: { ...query }, signal }),
      async revoke(id, { signal } = {}) {
        await send({ ...at("DELETE /api/v2/sessions/{id}", { id }), signal });
      },
      async revokeOthers({ signal } = {}) {
        await send({ ...at("DELETE /api/v2/sessions"), signal });
      },
    },
    async changePassword(change, { signal } = {}) {
      await send({ ...at("PUT /api/v2/me/password"), json: change, signal });
    },
    makeSignInLink: async ({ signal } = {}) => json({ ...at("POST /api/v2/sign-in-links"), json: {}, signal }),
  };
  return all;
}
