import type { Sql } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";

export interface CreditEntry {
  id: number;
  recordedAt: Date;
  /** Negative for a correction that took money away. */
  amount: Micros;
  reason: string;
  /** What it left in the wallet. */
  balance: Micros;
}

/** Users of the role `system` have nothing to do with money. */
export async function selectUserId(sql: Sql, username: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id from users where username = ${username} and role <> 'system'`;
  return row?.id;
}

/** The balance, held still until the end of the transaction; undefined when there is no such user. */
export async function lockBalance(sql: Sql, userId: string): Promise<Micros | undefined> {
  const [row] = await sql<{ balance: Micros }[]>`
    select balance_micros as balance from wallets where user_id = ${userId} for update`;
  return row?.balance;
}

const entryFields = (sql: Sql) => sql`
  id, recorded_at as "recordedAt", reason, balance_micros as balance,
  case when from_account = 'outside' then amount_micros else -amount_micros end as amount`;

export async function findCredit(sql: Sql, reference: string): Promise<CreditEntry | undefined> {
  const [entry] = await sql<CreditEntry[]>`
    select ${entryFields(sql)} from ledger where kind in ('credit', 'correction') and reference = ${reference}`;
  return entry;
}

/** Moves money between the outside and a wallet. Undefined when the same movement with this reference is there already. */
export async function insertCreditEntry(
  sql: Sql,
  credit: { userId: string; amount: Micros; reason: string; reference: string | undefined },
): Promise<CreditEntry | undefined> {
  const wallet = `user:${credit.userId}`;
  const [kind, from, to] = credit.amount > 0 ? ["credit", "outside", wallet] : ["correction", wallet, "outside"];
  const [entry] = await sql<CreditEntry[]>`
    select ${entryFields(sql)}
    from move_money(${kind}, ${from}, ${to}, ${Math.abs(credit.amount)}, ${credit.reference ?? null}, ${credit.reason})`;
  return entry;
}
