import type { Database } from "../../engines/database/database.ts";
import type { Scope } from "../accounts/index.ts";
import type { CreditRequest } from "./credit-request.rules.ts";
import { selectUserId } from "./credit-store.ts";
import { type Credited, creditUser } from "./credit-user.ts";
import { type LedgerPage, listLedger } from "./list-ledger.ts";
import { exportUsage, listUsage, type UsagePage } from "./list-usage.ts";
import { type Overview, selectOverview } from "./overview-store.ts";
import { type Expenses, type ExpensesRequest, readExpenses } from "./read-expenses.ts";
import { selectWallets, type Wallet } from "./store.ts";
import type { TimeRange } from "./time-cut.rules.ts";
import type { UsageRow } from "./usage-store.ts";
import { checkBooks, type LedgerReport } from "./verify-ledger.ts";

/** The reading side of money and what an admin does with it. Each use case is described in its own file. */
export interface Billing {
  /** Undefined when nobody has that name. */
  userIdOf(username: string): Promise<string | undefined>;
  /** In the order of the users. */
  walletsOf(userIds: readonly string[]): Promise<Wallet[]>;
  walletOf(userId: string): Promise<Wallet>;
  listLedger(userId: string, range: TimeRange, page: { limit: number; offset: number }): Promise<LedgerPage>;
  listUsage(scope: Scope, range: TimeRange, page: { limit: number; offset: number }): Promise<UsagePage>;
  exportUsage(scope: Scope, range: TimeRange): Promise<AsyncIterable<UsageRow[]>>;
  readExpenses(scope: Scope, request: ExpensesRequest): Promise<Expenses>;
  creditUser(credit: {
    adminId: string;
    username: string;
    request: CreditRequest;
    idempotencyKey: string | string[] | undefined;
  }): Promise<Credited>;
  readOverview(): Promise<Overview>;
  /** Takes as long as the books are large. Who asks while a check runs gets the answer of that one. */
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
