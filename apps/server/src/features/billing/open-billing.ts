import type { Database, Sql } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import type { Scope } from "../accounts/index.ts";
import { type Credited, type CreditRequest, creditUser, selectUserId } from "./credits.ts";
import { type Expenses, type ExpensesRequest, readExpenses } from "./expenses.ts";
import { type LedgerPage, listLedger } from "./ledger.ts";
import { type MemberUsage, readMemberUsage } from "./member-usage.ts";
import { type Overview, selectOverview } from "./overview-store.ts";
import type { TimeRange } from "./time.rules.ts";
import { exportUsage, listUsage, type UsagePage, type UsageRow } from "./usage.ts";
import { checkBooks, type LedgerReport } from "./verify-ledger.ts";

export interface Billing {
  userIdOf(username: string): Promise<string | undefined>;
  /** In the order of the ids. */
  walletsOf(userIds: readonly string[]): Promise<Wallet[]>;
  walletOf(userId: string): Promise<Wallet>;
  listLedger(userId: string, range: TimeRange, page: { limit: number; offset: number }): Promise<LedgerPage>;
  listUsage(scope: Scope, range: TimeRange, page: { limit: number; offset: number }): Promise<UsagePage>;
  exportUsage(scope: Scope, range: TimeRange): Promise<AsyncIterable<UsageRow[]>>;
  readMemberUsage(
    teamId: string,
    range: TimeRange,
    query: { memberId: string | undefined; limit: number; offset: number },
  ): Promise<{ entries: MemberUsage[]; total: number }>;
  readExpenses(scope: Scope, request: ExpensesRequest): Promise<Expenses>;
  creditUser(credit: {
    adminId: string;
    username: string;
    request: CreditRequest;
    idempotencyKey: string | string[] | undefined;
  }): Promise<Credited>;
  readOverview(): Promise<Overview>;
  /** Takes longer the larger the books are. Concurrent calls share one check. */
  checkBooks(): Promise<LedgerReport>;
}

export function openBilling({ database }: { database: Database }): Billing {
  let checking: Promise<LedgerReport> | undefined;

  async function walletsOf(userIds: readonly string[]): Promise<Wallet[]> {
    const found = await selectWallets(database.sql, userIds);
    return userIds.map((userId) => {
      const wallet = found.get(userId);
      if (!wallet) throw new Error("a user has no wallet");
      return wallet;
    });
  }

  return {
    userIdOf: (username) => selectUserId(database.sql, username),
    walletsOf,
    walletOf: async (userId) => (await walletsOf([userId]))[0] as Wallet,
    listLedger: (userId, range, page) => listLedger(database, userId, range, page),
    listUsage: (scope, range, page) => listUsage(database, scope, range, page),
    exportUsage: (scope, range) => exportUsage(database, scope, range),
    readMemberUsage: (teamId, range, query) => readMemberUsage(database, teamId, range, query),
    readExpenses: (scope, request) => readExpenses(database, scope, request),
    creditUser: (credit) => creditUser(database, credit),
    readOverview: () => selectOverview(database.sql),
    checkBooks() {
      checking ??= checkBooks(database).finally(() => {
        checking = undefined;
      });
      return checking;
    },
  };
}

/** `balance` is gross of `reserved`. */
export interface Wallet {
  balance: Micros;
  reserved: Micros;
}

export async function selectWallets(sql: Sql, userIds: readonly string[]): Promise<Map<string, Wallet>> {
  const rows = await sql<({ userId: string } & Wallet)[]>`
    select user_id as "userId", balance_micros as balance, reserved_micros as reserved from wallets
    where user_id = any (${[...userIds]}::text[])`;
  return new Map(rows.map(({ userId, ...wallet }) => [userId, wallet]));
}
