import type { Sql } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";

/** `balance` is gross of `reserved`. */
export interface Wallet {
  balance: Micros;
  reserved: Micros;
}

/** Admission reserves and settlement charges: features/predictions/sql. */
export async function selectWallets(sql: Sql, userIds: readonly string[]): Promise<Map<string, Wallet>> {
  const rows = await sql<({ userId: string } & Wallet)[]>`
    select user_id as "userId", balance_micros as balance, reserved_micros as reserved from wallets
    where user_id = any (${[...userIds]}::text[])`;
  return new Map(rows.map(({ userId, ...wallet }) => [userId, wallet]));
}
