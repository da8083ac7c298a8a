export { closeUsageDays } from "./close-usage-days.ts";
export { readCreditRequest } from "./credit-request.rules.ts";
export { type Credited, grantOpeningBalance } from "./credit-user.ts";
export type { UsageFilter } from "./list-usage.ts";
export { type Moment, readMoment, shownMoment } from "./moment.rules.ts";
export { type Billing, openBilling } from "./open-billing.ts";
export type { Overview } from "./overview-store.ts";
export { addHit, countHits, type Hits, untilFree, windowMs, withoutOld } from "./rate-window.rules.ts";
export type { Expenses, ExpensesRequest } from "./read-expenses.ts";
export { defaultMaxTokens, reservationOf } from "./reservation.rules.ts";
export {
  type KeyMonthChange,
  type LockedFunds,
  type LockedKeyMonth,
  type LockedWallet,
  lockFunds,
  reserveFunds,
  type WalletChange,
} from "./reserve-funds.ts";
export { insertCredit, lockFundsOf, type SettledPrediction, selectWallet, settleFunds } from "./store.ts";
export { dropUsageBefore, ensureUsagePartitions } from "./usage-partitions.ts";
export type { UsageRow } from "./usage-store.ts";
export { startUsageUpkeep, type UsageUpkeep } from "./usage-upkeep.ts";
export { type Discrepancy, verifyLedger } from "./verify-ledger.ts";
