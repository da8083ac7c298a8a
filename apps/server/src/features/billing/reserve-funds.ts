import type { Transaction } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import { type Hits, withoutOld } from "./rate-window.rules.ts";
import { addReservations, lockKeyMonths, lockWallets } from "./store.ts";

/** A user as it stands under the lock. */
export interface LockedWallet {
  balance: Micros;
  reserved: Micros;
  running: number;
  hits: Hits;
  /** Of the plan; null is no limit. */
  requestsPerMinute: number | null;
  parallel: number | null;
}

/** What a key with a monthly limit has used of it. */
export interface LockedKeyMonth {
  limit: Micros;
  used: Micros;
}

export interface LockedFunds {
  wallets: Map<string, LockedWallet>;
  keyMonths: Map<string, LockedKeyMonth>;
  /** The month of UTC that limits are counted in, as `YYYY-MM-01`. */
  month: string;
}

/** Locks what admission decides on: wallets first, then keys, each in the order of its id. */
export async function lockFunds(
  tx: Transaction,
  now: Date,
  userIds: readonly string[],
  limitedKeyIds: readonly string[],
): Promise<LockedFunds> {
  const month = `${now.toISOString().slice(0, 7)}-01`;
  const [wallets, keyMonths] = await Promise.all([
    lockWallets(tx, userIds),
    limitedKeyIds.length > 0 ? lockKeyMonths(tx, limitedKeyIds, month) : [],
  ]);
  return {
    wallets: new Map(
      wallets.map(({ userId, ...wallet }) => [userId, { ...wallet, hits: withoutOld(wallet.hits, now.getTime()) }]),
    ),
    keyMonths: new Map(keyMonths.map(({ keyId, limit, used }) => [keyId, { limit, used }])),
    month,
  };
}

/** What a batch of admissions changes on one wallet. */
export interface WalletChange {
  userId: string;
  running: number;
  reserved: Micros;
  /** Undefined leaves the window as it is. */
  hits: Hits | undefined;
}

export interface KeyMonthChange {
  keyId: string;
  reserved: Micros;
}

export async function reserveFunds(
  tx: Transaction,
  month: string,
  wallets: readonly WalletChange[],
  keys: readonly KeyMonthChange[],
): Promise<void> {
  await addReservations(tx, month, wallets, keys);
}
