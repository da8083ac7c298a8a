export { type Credited, emptyWallet, grantOpeningBalance, readCreditRequest } from "./credits.ts";
export type { Expenses, ExpensesRequest } from "./expenses.ts";
export type { LedgerEntry } from "./ledger.ts";
export type { MemberUsage } from "./member-usage.ts";
export { type Billing, openBilling, type Wallet } from "./open-billing.ts";
export type { Overview } from "./overview-store.ts";
export {
  allPricings,
  type Bounds,
  highestPricing,
  type Prices,
  pricesOf,
  pricingWith,
  reservationOf,
  type Terms,
  termsInBatch,
} from "./reservation.rules.ts";
export {
  type Micros1970,
  type Moment,
  microsOfMoment,
  momentOfMicros,
  readMoment,
  shownMoment,
  type TimeRange,
  type UsageMarks,
} from "./time.rules.ts";
export { micros1970, readFromOneSnapshot, selectMarks, timeParameter } from "./time-store.ts";
export { exportUsage, type UsageRow, usageRows } from "./usage.ts";
export { findCall, listCalls, type SearchedCalls, type UsageFilter } from "./usage-calls.ts";
export { detailUsage } from "./usage-details.ts";
export { ensureUsagePartitions } from "./usage-partitions.ts";
export { closeUsageDays, startUsageUpkeep, type UsageUpkeep } from "./usage-upkeep.ts";
export { checkBooks, type Discrepancy, type LedgerReport, verifyLedger } from "./verify-ledger.ts";
