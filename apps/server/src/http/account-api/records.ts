import type {
  AccountDeletionRecord,
  CreditRecord,
  ExpensesRecord,
  KeyRecord,
  LedgerEntryRecord,
  LedgerRecord,
  OverviewRecord,
  UsageRecord,
  UserRecord,
} from "@gantry/wire";
import type { AccountDeletion, Key, NewKey, User } from "../../features/accounts/index.ts";
import {
  type Credited,
  type Expenses,
  type LedgerEntry,
  type LedgerReport,
  type Overview,
  shownMoment,
  type UsageRow,
  type Wallet,
} from "../../features/billing/index.ts";
import { hostOf } from "../../features/connected-apps/index.ts";
import { dollarsOfMicros } from "../../kernel/money.ts";

export function keyToWire(key: Key): KeyRecord {
  return {
    id: key.id,
    public: key.public,
    name: key.name,
    expires_at: key.expiresAt?.toISOString() ?? null,
    models: key.models && [...key.models],
    monthly_limit: key.monthlyLimitMicros === null ? null : dollarsOfMicros(key.monthlyLimitMicros),
    daily_limit: key.dailyLimitMicros == null ? null : dollarsOfMicros(key.dailyLimitMicros),
    tokens_per_minute: key.tokensPerMinute ?? null,
    keep_inputs: key.keepsInputs,
    spent: key.monthlyLimitMicros === null ? null : dollarsOfMicros(key.spentMicros),
    spent_today: key.dailyLimitMicros == null ? null : dollarsOfMicros(key.spentTodayMicros),
    created_at: key.createdAt.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    member: key.member,
    connected_app: key.connectedApp && { name: key.connectedApp.name, host: hostOf(key.connectedApp.redirectUri) },
  };
}

export function newKeyToWire({ record, key }: NewKey): KeyRecord {
  return { ...keyToWire(record), key };
}

export function deletionToWire({ username, requestedAt }: AccountDeletion): AccountDeletionRecord {
  return { username, status: "deleting", requested_at: requestedAt.toISOString() };
}

export function userToWire(user: User, { balance, reserved }: Wallet, isBalanceLow: boolean): UserRecord {
  return {
    id: user.id,
    username: user.username,
    kind: user.kind,
    role: user.role,
    plan: user.plan,
    disabled: user.disabledAt !== null,
    deletion_requested_at: user.deletionRequestedAt?.toISOString() ?? null,
    balance: dollarsOfMicros(balance),
    reserved: dollarsOfMicros(reserved),
    balance_low: isBalanceLow,
    created_at: user.createdAt.toISOString(),
  };
}

/** Only owners and admins see the names of backends, which can reveal vendors. */
export function usageToWire(row: UsageRow, viewer: { username: string } | "admin" | undefined): UsageRecord {
  const isShown = viewer === "admin" || (viewer && row.modelName.startsWith(`${viewer.username}/`));
  return {
    request_id: row.requestId,
    model_name: row.modelName,
    route: row.route as UsageRecord["route"],
    status: row.status,
    created_at: shownMoment(row.createdAt),
    inference_time: row.inferenceMs === null ? null : row.inferenceMs / 1000,
    input_tokens: row.inputTokens,
    output_tokens: row.outputTokens,
    cached_tokens: row.cachedTokens,
    cache_write_tokens: row.cacheWriteTokens,
    price: dollarsOfMicros(row.price),
    door: row.door as UsageRecord["door"],
    backend: isShown ? row.backend : null,
  };
}

export function entryToWire(entry: LedgerEntry): LedgerEntryRecord {
  return {
    id: entry.id,
    created_at: shownMoment(entry.recordedAt),
    kind: entry.kind as LedgerEntryRecord["kind"],
    amount: dollarsOfMicros(entry.amount),
    reference: entry.reference,
    model_name: entry.modelName,
    reason: entry.reason,
  };
}

export function expensesToWire(expenses: Expenses, page: number): ExpensesRecord {
  return {
    results: expenses.models.map(({ modelName, requests, spent }) => ({
      model_name: modelName,
      request_count: requests,
      sub_total_spent: dollarsOfMicros(spent),
      avg_per_request: dollarsOfMicros(spent / requests),
    })),
    start_date: shownMoment(expenses.start),
    end_date: shownMoment(expenses.end),
    page,
    total_spent: dollarsOfMicros(expenses.totalSpent),
    total_count: expenses.totalRequests,
    total_models: expenses.totalModels,
    total_pages: expenses.totalPages,
  };
}

export function ledgerToWire({ accounts, sum, discrepancies }: LedgerReport): LedgerRecord {
  return { accounts, sum: dollarsOfMicros(sum), currency: "USD", discrepancies };
}

export function creditToWire({ balance, entry }: Credited): CreditRecord {
  return {
    balance: dollarsOfMicros(balance),
    currency: "USD",
    entry: {
      id: entry.id,
      amount: dollarsOfMicros(entry.amount),
      reason: entry.reason,
      created_at: entry.recordedAt.toISOString(),
    },
  };
}

export function overviewToWire({ books, ...overview }: Overview, keeps: OverviewRecord["keeps"]): OverviewRecord {
  const turnover = ({ requests, paid, spent }: Overview["today"]) => ({
    requests,
    paid_requests: paid,
    spent: dollarsOfMicros(spent),
  });
  return {
    users: overview.users,
    models: overview.models,
    predictions: overview.predictions,
    nodes: overview.nodes,
    today: turnover(overview.today),
    last_7_days: turnover(overview.lastSevenDays),
    top_models: overview.topModels.map(({ modelName, requests, spent }) => ({
      model_name: modelName,
      requests,
      spent: dollarsOfMicros(spent),
    })),
    books: {
      balances: dollarsOfMicros(books.balances),
      reserved: dollarsOfMicros(books.reserved),
      platform: dollarsOfMicros(books.platform),
      outside: dollarsOfMicros(books.outside),
      sum: dollarsOfMicros(books.sum),
    },
    keeps,
    currency: "USD",
  };
}
