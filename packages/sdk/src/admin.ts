import type {
  AccountDeletionRecord,
  AuditRecord,
  ChangeKeyBody,
  ChangeUserBody,
  CreateKeyBody,
  CreateUserBody,
  CreditRecord,
  KeyRecord,
  LedgerEntryRecord,
  LedgerRecord,
  OverviewRecord,
  PasswordResetRecord,
  PlanRecord,
  PutPlanBody,
  SignedInSessionRecord,
  SignInLinkRecord,
  TakeDownRecord,
  UserRecord,
} from "@gantry/wire";
import type { ExportOptions, OwnAuditFilter } from "./account.ts";
import { at, modelParams } from "./address.ts";
import { type Aliases, sharedAliases } from "./aliases.ts";
import { randomText } from "./form.ts";
import { eachOf, eachOfThePast, type Page, type PageQuery, type TimeRange } from "./pages.ts";
import { type Providers, sharedProviders } from "./providers.ts";
import { type Secrets, sharedSecrets } from "./secrets.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface AdminUsers {
  list(options?: PageQuery & CallOptions): Promise<Page<UserRecord>>;
  /** Iterates over all entries, page by page. */
  each(options?: CallOptions): AsyncGenerator<UserRecord>;
  get(username: string, options?: CallOptions): Promise<UserRecord>;
  create(user: CreateUserBody, options?: CallOptions): Promise<UserRecord>;
  /** Send only the fields to change; `disabled: true` closes the account, `password: null` removes the password. */
  update(username: string, change: ChangeUserBody, options?: CallOptions): Promise<UserRecord>;
  /** Deletes a user or a team, and in the background everything that it stored. */
  delete(username: string, options?: CallOptions): Promise<AccountDeletionRecord>;
  /** Creates a key for a user. The answer shows it once, in `key`. */
  createKey(username: string, key?: CreateKeyBody, options?: CallOptions): Promise<KeyRecord>;
  /** One page of a user's keys, newest first, without the secrets. */
  keys(username: string, options?: PageQuery & CallOptions): Promise<Page<KeyRecord>>;
  /** Send only the fields to change; null removes a limit. */
  updateKey(username: string, keyId: string, change: ChangeKeyBody, options?: CallOptions): Promise<KeyRecord>;
  /** All data of a user or a team as a `.tar.gz`, streamed as you read `body`. */
  export(username: string, options?: ExportOptions & CallOptions): Promise<Response>;
  revokeKey(username: string, keyId: string, options?: CallOptions): Promise<void>;
  /** A link that signs the user in to the console, once and within 15 minutes. */
  makeSignInLink(username: string, options?: CallOptions): Promise<SignInLinkRecord>;
  /** A link with which the user sets a new password, once and within 24 hours. */
  makePasswordReset(username: string, options?: CallOptions): Promise<PasswordResetRecord>;
  /** One page of a user's sign-ins to the console, newest first. */
  sessions(username: string, options?: PageQuery & CallOptions): Promise<Page<SignedInSessionRecord>>;
  /** Ends one session, or without an id all of them. API keys keep working. */
  revokeSessions(username: string, sessionId?: string, options?: CallOptions): Promise<void>;
  /** The next person with this username can be linked, if the settings allow it. */
  unlinkIdentity(username: string, options?: CallOptions): Promise<void>;
  /**
   * Adds dollars to a wallet; a negative amount deducts. Without an `idempotencyKey` one is generated, so that a retry
   * does not credit twice.
   */
  credit(
    username: string,
    credit: { amount: number; reason: string },
    options?: { idempotencyKey?: string | undefined } & CallOptions,
  ): Promise<CreditRecord>;
  /** One page of wallet entries, newest first, as the user sees them at `account.ledger`. */
  ledger(username: string, options?: TimeRange & PageQuery & CallOptions): Promise<Page<LedgerEntryRecord>>;
  /** Iterates over all entries, newest first, page by page. */
  eachLedgerEntry(username: string, options?: TimeRange & CallOptions): AsyncGenerator<LedgerEntryRecord>;
}

/** Limits of users. */
export interface AdminPlans {
  list(options?: PageQuery & CallOptions): Promise<Page<PlanRecord>>;
  /** Iterates over all entries, page by page. */
  each(options?: CallOptions): AsyncGenerator<PlanRecord>;
  /** Creates or changes a plan; null is unlimited. */
  put(name: string, limits: PutPlanBody, options?: CallOptions): Promise<PlanRecord>;
  delete(name: string, options?: CallOptions): Promise<void>;
}

/** Takes agents and models down and restores them. */
export interface AdminTakeDowns {
  list(options?: PageQuery & CallOptions): Promise<Page<TakeDownRecord>>;
  /** Iterates over all entries, page by page. */
  each(options?: CallOptions): AsyncGenerator<TakeDownRecord>;
  /** Makes an agent private until it is restored. The owner sees the reason. */
  agent(agentId: string, reason: string, options?: CallOptions): Promise<TakeDownRecord>;
  /** Makes a model private, by `owner/name`. */
  model(endpointId: string, reason: string, options?: CallOptions): Promise<TakeDownRecord>;
  restoreAgent(agentId: string, options?: CallOptions): Promise<TakeDownRecord>;
  restoreModel(endpointId: string, options?: CallOptions): Promise<TakeDownRecord>;
}

export interface AuditFilter extends OwnAuditFilter {
  /** Id or username. */
  actor?: string | undefined;
  /** Id or username of the user whose object it is. */
  owner?: string | undefined;
  /** Id or name. */
  object?: string | undefined;
}

/** Who changed what, newest first. */
export interface AdminAudit {
  list(options?: AuditFilter & PageQuery & CallOptions): Promise<Page<AuditRecord>>;
  /** Iterates over all records, newest first, page by page. */
  each(options?: AuditFilter & CallOptions): AsyncGenerator<AuditRecord>;
  /** Everything as CSV, one line per record, streamed as you read `body`. */
  csv(options?: AuditFilter & CallOptions): Promise<Response>;
}

export type Turnover = OverviewRecord["today"];

/** The result of a ledger check, without the currency. */
export type BooksRecord = Omit<LedgerRecord, "currency">;

/** Only for admins; other users get `forbidden`. */
export interface Admin {
  users: AdminUsers;
  plans: AdminPlans;
  /** For all users. */
  aliases: Aliases;
  /** The operator's, whose models are offered to all users. */
  providers: Providers;
  /** For the operator's providers and models. */
  secrets: Secrets;
  takeDowns: AdminTakeDowns;
  audit: AdminAudit;
  overview(options?: CallOptions): Promise<OverviewRecord>;
  checkBooks(options?: CallOptions): Promise<LedgerRecord>;
}

export function admin(transport: Transport): Admin {
  const { json } = transport;
  return {
    users: users(transport),
    plans: plans(transport),
    aliases: sharedAliases(transport),
    providers: sharedProviders(transport),
    secrets: sharedSecrets(transport),
    takeDowns: takeDowns(transport),
    audit: auditLog(transport),
    overview: async ({ signal } = {}) => json({ ...at("GET /api/v2/admin/overview"), signal }),
    checkBooks: async ({ signal } = {}) => json({ ...at("GET /api/v2/admin/ledger"), signal }),
  };
}

function users({ json, send, download, retries }: Transport): AdminUsers {
  const all: AdminUsers = {
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /api/v2/admin/users"), query, signal }),
    each: (options) =>
      eachOf(
        (range) => all.list({ ...options, ...range }),
        ({ id }) => id,
      ),
    get: async (username, { signal } = {}) =>
      json({ ...at("GET /api/v2/admin/users/{username}", { username }), signal }),
    create: async (user, { signal } = {}) => json({ ...at("POST /api/v2/admin/users"), json: user, signal }),
    update: async (username, change, { signal } = {}) =>
      json({ ...at("PATCH /api/v2/admin/users/{username}", { username }), json: change, signal }),
    delete: async (username, { signal } = {}) =>
      json({ ...at("DELETE /api/v2/admin/users/{username}", { username }), signal }),
    createKey: async (username, key = {}, { signal } = {}) =>
      json({ ...at("POST /api/v2/admin/users/{username}/keys", { username }), json: key, signal }),
    keys: async (username, { signal, ...query } = {}) =>
      json({ ...at("GET /api/v2/admin/users/{username}/keys", { username }), query, signal }),
    updateKey: async (username, id, change, { signal } = {}) =>
      json({ ...at("PATCH /api/v2/admin/users/{username}/keys/{id}", { username, id }), json: change, signal }),
    export: async (username, { files, signal } = {}) =>
      download({ ...at("GET /api/v2/admin/users/{username}/export", { username }), query: { files }, signal }),
    async revokeKey(username, id, { signal } = {}) {
      await send({ ...at("DELETE /api/v2/admin/users/{username}/keys/{id}", { username, id }), signal });
    },
    makeSignInLink: async (username, { signal } = {}) =>
      json({ ...at("POST /api/v2/sign-in-links"), json: { username }, signal }),
    makePasswordReset: async (username, { signal } = {}) =>
      json({ ...at("POST /api/v2/admin/users/{username}/password-reset", { username }), signal }),
    sessions: async (username, { signal, ...query } = {}) =>
      json({ ...at("GET /api/v2/admin/users/{username}/sessions", { username }), query, signal }),
    async revokeSessions(username, id, { signal } = {}) {
      const from =
        id === undefined
          ? at("DELETE /api/v2/admin/users/{username}/sessions", { username })
          : at("DELETE /api/v2/admin/users/{username}/sessions/{id}", { username, id });
      await send({ ...from, signal });
    },
    async unlinkIdentity(username, { signal } = {}) {
      await send({ ...at("DELETE /api/v2/admin/users/{username}/identity", { username }), signal });
    },
    async credit(username, credit, { idempotencyKey, signal } = {}) {
      const key = idempotencyKey ?? (retries > 0 ? randomText() : undefined);
      const to = at("POST /api/v2/admin/users/{username}/credits", { username });
      return json({ ...to, json: credit, idempotencyKey: key, signal });
    },
    ledger: async (username, { signal, ...query } = {}) =>
      json({ ...at("GET /api/v2/admin/users/{username}/ledger", { username }), query: { ...query }, signal }),
    eachLedgerEntry: (username, options = {}) =>
      eachOfThePast(
        (range) => all.ledger(username, { ...options, ...range }),
        ({ id }) => String(id),
        options.to_date,
      ),
  };
  return all;
}

function auditLog({ json, download }: Transport): AdminAudit {
  const all: AdminAudit = {
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /api/v2/admin/audit"), query: { ...query }, signal }),
    each: (options = {}) =>
      eachOfThePast(
        (range) => all.list({ ...options, ...range }),
        ({ seq }) => String(seq),
        options.to_date,
      ),
    csv: async ({ signal, ...query } = {}) =>
      download({ ...at("GET /api/v2/admin/audit"), query: { ...query }, headers: { accept: "text/csv" }, signal }),
  };
  return all;
}

function plans({ json, send }: Transport): AdminPlans {
  const all: AdminPlans = {
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /api/v2/admin/plans"), query, signal }),
    each: (options) =>
      eachOf(
        (range) => all.list({ ...options, ...range }),
        ({ name }) => name,
      ),
    put: async (name, limits, { signal } = {}) =>
      json({ ...at("PUT /api/v2/admin/plans/{name}", { name }), json: limits, signal }),
    async delete(name, { signal } = {}) {
      await send({ ...at("DELETE /api/v2/admin/plans/{name}", { name }), signal });
    },
  };
  return all;
}

function takeDowns({ json }: Transport): AdminTakeDowns {
  const named = (endpointId: string) => {
    const { owner, model } = modelParams(endpointId);
    return { owner, name: model };
  };
  const all: AdminTakeDowns = {
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /api/v2/admin/take-downs"), query, signal }),
    each: (options) =>
      eachOf(
        (range) => all.list({ ...options, ...range }),
        ({ id }) => id,
      ),
    agent: async (id, reason, { signal } = {}) =>
      json({ ...at("POST /api/v2/admin/agents/{id}/take-down", { id }), json: { reason }, signal }),
    model: async (endpointId, reason, { signal } = {}) =>
      json({
        ...at("POST /api/v2/admin/models/{owner}/{name}/take-down", named(endpointId)),
        json: { reason },
        signal,
      }),
    restoreAgent: async (id, { signal } = {}) =>
      json({ ...at("POST /api/v2/admin/agents/{id}/restore", { id }), signal }),
    restoreModel: async (endpointId, { signal } = {}) =>
      json({ ...at("POST /api/v2/admin/models/{owner}/{name}/restore", named(endpointId)), signal }),
  };
  return all;
}
