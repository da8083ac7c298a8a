export { type Credited, grantOpeningBalance, readCreditRequest } from "./credits.ts";
export type { Expenses, ExpensesRequest } from "./expenses.ts";
export type { LedgerEntry } from "./ledger.ts";
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
} from "./reservation.rules.ts";
export { type Moment, readMoment, shownMoment, type TimeRange } from "./time.rules.ts";
export type { UsageRow } from "./usage.ts";
export { ensureUsagePartitions } from "./usage-partitions.ts";
export { closeUsageDays, startUsageUpkeep, type UsageUpkeep } from "./usage-upkeep.ts";
export { checkBooks, type Discrepancy, type LedgerReport, verifyLedger } from "./verify-ledger.ts";
