import type {
  ChangeUserBody,
  CreateKeyBody,
  CreateUserBody,
  CreditRecord,
  KeyRecord,
  LedgerEntryRecord,
  LedgerRecord,
  OverviewRecord,
  PlanRecord,
  PutPlanBody,
  SignInLinkRecord,
  TakeDownRecord,
  UserRecord,
} from "@gantry/wire";
import { at, modelParams } from "./address.ts";
import { randomText } from "./form.ts";
import { eachOf, eachOfThePast, type Page, type PageQuery, type TimeRange } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface AdminUsers {
  list(options?: PageQuery & CallOptions): Promise<Page<UserRecord>>;
  /** All of them, read page by page as the loop goes on. */
  each(options?: CallOptions): AsyncGenerator<UserRecord>;
  create(user: CreateUserBody, options?: CallOptions): Promise<UserRecord>;
  /** Only the fields to change; `disabled: true` closes the account, `password: null` takes the password away. */
  update(username: string, change: ChangeUserBody, options?: CallOptions): Promise<UserRecord>;
  /** A key of that user; the answer has the whole key in `key`, this once. */
  createKey(username: string, key?: CreateKeyBody, options?: CallOptions): Promise<KeyRecord>;
  /** A link that signs that user in to the console, once and within a quarter of an hour. */
  makeSignInLink(username: string, options?: CallOptions): Promise<SignInLinkRecord>;
  /**
   * Adds money to a wallet, in dollars; a negative amount takes some away. Without an `idempotencyKey` it gets one, so
   * that a lost answer moves no money twice.
   */
  credit(
    username: string,
    credit: { amount: number; reason: string },
    options?: { idempotencyKey?: string | undefined } & CallOptions,
  ): Promise<CreditRecord>;
  /** One page of the movements of a wallet, newest first, as its user sees them at `account.ledger`. */
  ledger(username: string, options?: TimeRange & PageQuery & CallOptions): Promise<Page<LedgerEntryRecord>>;
  /** All of them, newest first, read page by page as the loop goes on. */
  eachLedgerEntry(username: string, options?: TimeRange & CallOptions): AsyncGenerator<LedgerEntryRecord>;
}

/** What users may do at most. */
export interface AdminPlans {
  list(options?: PageQuery & CallOptions): Promise<Page<PlanRecord>>;
  /** All of them, read page by page as the loop goes on. */
  each(options?: CallOptions): AsyncGenerator<PlanRecord>;
  /** Makes a plan, or changes its limits; null is no limit. */
  put(name: string, limits: PutPlanBody, options?: CallOptions): Promise<PlanRecord>;
  delete(name: string, options?: CallOptions): Promise<void>;
}

/** Agents and models that nobody but their owner may use. */
export interface AdminTakeDowns {
  list(options?: PageQuery & CallOptions): Promise<Page<TakeDownRecord>>;
  /** All of them, read page by page as the loop goes on. */
  each(options?: CallOptions): AsyncGenerator<TakeDownRecord>;
  /** Makes an agent private until it is restored. The owner reads the reason. */
  agent(agentId: string, reason: string, options?: CallOptions): Promise<TakeDownRecord>;
  /** The same for a model, by `owner/name`. */
  model(endpointId: string, reason: string, options?: CallOptions): Promise<TakeDownRecord>;
  restoreAgent(agentId: string, options?: CallOptions): Promise<TakeDownRecord>;
  restoreModel(endpointId: string, options?: CallOptions): Promise<TakeDownRecord>;
}

export type Turnover = OverviewRecord["today"];

/** A check of the books without its currency, which is all that telling its outcome takes. */
export type BooksRecord = Omit<LedgerRecord, "currency">;

/** For admins; to others it is `forbidden`. */
export interface Admin {
  users: AdminUsers;
  plans: AdminPlans;
  takeDowns: AdminTakeDowns;
  overview(options?: CallOptions): Promise<OverviewRecord>;
  checkBooks(options?: CallOptions): Promise<LedgerRecord>;
}

export function admin(transport: Transport): Admin {
  const { json } = transport;
  return {
    users: users(transport),
    plans: plans(transport),
    takeDowns: takeDowns(transport),
    overview: async ({ signal } = {}) => json({ ...at("GET /api/v2/admin/overview"), signal }),
    checkBooks: async ({ signal } = {}) => json({ ...at("GET /api/v2/admin/ledger"), signal }),
  };
}

function users({ json, retries }: Transport): AdminUsers {
  const all: AdminUsers = {
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /api/v2/admin/users"), query, signal }),
    each: (options) =>
      eachOf(
        (range) => all.list({ ...options, ...range }),
        ({ id }) => id,
      ),
    create: async (user, { signal } = {}) => json({ ...at("POST /api/v2/admin/users"), json: user, signal }),
    update: async (username, change, { signal } = {}) =>
      json({ ...at("PATCH /api/v2/admin/users/{username}", { username }), json: change, signal }),
    createKey: async (username, key = {}, { signal } = {}) =>
      json({ ...at("POST /api/v2/admin/users/{username}/keys", { username }), json: key, signal }),
    makeSignInLink: async (username, { signal } = {}) =>
      json({ ...at("POST /api/v2/sign-in-links"), json: { username }, signal }),
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
