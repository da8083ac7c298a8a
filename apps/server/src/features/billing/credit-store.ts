import type { Sql } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";

export interface CreditEntry {
  id: number;
  recordedAt: Date;
  /** Negative for a correction that took money away. */
  amount: Micros;
  reason: string;
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
  id, recorded_at as "recordedAt", reason,
  case when from_account = 'outside' then amount_micros else -amount_micros end as amount`;

export async function findCredit(sql: Sql, reference: string): Promise<CreditEntry | undefined> {
  const [entry] = await sql<CreditEntry[]>`
    select ${entryFields(sql)} from ledger where kind in ('credit', 'correction') and reference = ${reference}`;
  return entry;
}

/** The balance that an entry left. Whoever writes an entry holds the wallet's lock, so the numbers are the order. */
export async function balanceAfter(sql: Sql, userId: string, entryId: number): Promise<Micros> {
  const wallet = `user:${userId}`;
  const [row] = await sql<{ balance: Micros }[]>`
    select (
      (select coalesce(sum(amount_micros), 0) from ledger where to_account = ${wallet} and id <= ${entryId})
      - (select coalesce(sum(amount_micros), 0) from ledger where from_account = ${wallet} and id <= ${entryId})
    )::bigint as balance`;
  return row?.balance ?? 0;
}

/** Moves money between the outside and a wallet. Undefined when the same movement with this reference is there already. */
export async function insertCreditEntry(
  sql: Sql,
  credit: { userId: string; amount: Micros; reason: string; reference: string | undefined },
): Promise<CreditEntry | undefined> {
  const wallet = `user:${credit.userId}`;
  const [kind, from, to] = credit.amount > 0 ? ["credit", "outside", wallet] : ["correction", wallet, "outside"];
  const [entry] = await sql<CreditEntry[]>`
    insert into ledger (kind, from_account, to_account, amount_micros, reference, reason)
    values (${kind}, ${from}, ${to}, ${Math.abs(credit.amount)}, ${credit.reference ?? null}, ${credit.reason})
    on conflict (kind, reference) where reference is not null do nothing
    returning ${entryFields(sql)}`;
  return entry;
}
