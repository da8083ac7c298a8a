import type { Database } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import { checkBooks, type LedgerReport } from "./check-books.ts";
import type { CreditRequest } from "./credit-request.rules.ts";
import { selectUserId } from "./credit-store.ts";
import { type Credited, creditUser } from "./credit-user.ts";
import { exportUsage, listUsage, type UsageFilter, type UsagePage } from "./list-usage.ts";
import { type Overview, selectOverview } from "./overview-store.ts";
import { type Expenses, type ExpensesRequest, readExpenses } from "./read-expenses.ts";
import { selectWallet } from "./store.ts";
import type { UsageRow } from "./usage-store.ts";

/** The reading side of money and what an admin does with it. Each use case is described in its own file. */
export interface Billing {
  /** Undefined when nobody has that name. */
  userIdOf(username: string): Promise<string | undefined>;
  /** `balance` is gross of `reserved`. */
  walletOf(userId: string): Promise<{ balance: Micros; reserved: Micros }>;
  listUsage(userId: string, filter: UsageFilter, page: { limit: number; offset: number }): Promise<UsagePage>;
  exportUsage(userId: string, filter: UsageFilter): Promise<AsyncIterable<UsageRow[]>>;
  readExpenses(userId: string, request: ExpensesRequest): Promise<Expenses>;
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
  return {
    userIdOf: (username) => selectUserId(database.sql, username),
    async walletOf(userId) {
      const wallet = await selectWallet(database.sql, userId);
      if (!wallet) throw new Error("a user has no wallet");
      return wallet;
    },
    listUsage: (userId, filter, page) => listUsage(database, userId, filter, page),
    exportUsage: (userId, filter) => exportUsage(database, userId, filter),
    readExpenses: (userId, request) => readExpenses(database, userId, request),
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
