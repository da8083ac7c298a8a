import type { Sql } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";

/** Reserving and settling are part of admission and settlement: migrations/0009. */
export async function selectWallet(
  sql: Sql,
  userId: string,
): Promise<{ balance: Micros; reserved: Micros } | undefined> {
  const [row] = await sql<{ balance: Micros; reserved: Micros }[]>`
    select balance_micros as balance, reserved_micros as reserved from wallets where user_id = ${userId}`;
  return row;
}
