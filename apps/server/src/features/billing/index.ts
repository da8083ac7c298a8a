export { type Hits, addHit, countHits, untilFree, windowMs, withoutOld } from "./rate-window.rules.ts";
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
