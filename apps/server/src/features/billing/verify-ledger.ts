import type { Database } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import { ledgerChecks } from "./ledger-checks.ts";
import { isSale } from "./sum-checks.ts";
import { readFromOneSnapshot } from "./time-store.ts";

/** A contradiction within the books. Amounts are in millionths of a dollar. */
export interface Discrepancy {
  rule: string;
  subject: string;
  expected: number | null;
  found: number | null;
}

/** More discrepancies of one kind are counted, not listed. */
const listedOfEach = 50;
const deadlineMs = 60 * 60_000;

/**
 * Checks the books in one snapshot, beside normal operation: accounts, wallets, reservations, counters, charges, usage and its
 * sums. The books are right if the list is empty.
 */
export async function verifyLedger(database: Database): Promise<Discrepancy[]> {
  return database.transaction(
    async (tx) => {
      await readFromOneSnapshot(tx);
      const discrepancies: Discrepancy[] = [];
      for (const [name, check] of Object.entries(ledgerChecks)) {
        const rows = await tx<(Record<keyof Discrepancy, string> & { many: number })[]>`
          select rule, subject, expected::text, found::text, count(*) over () as many
          from (${check(tx)}) broken order by rule, subject collate "C" limit ${listedOfEach}`;
        for (const { rule, subject, expected, found } of rows) {
          discrepancies.push({ rule, subject, expected: figure(expected), found: figure(found) });
        }
        const more = (rows[0]?.many ?? 0) - rows.length;
        if (more > 0) discrepancies.push({ rule: name, subject: `and ${more} more`, expected: 0, found: more });
      }
      return discrepancies;
    },
    { deadlineMs },
  );
}

/** Sums are of the type numeric, which may exceed a bigint. */
function figure(text: string | null): number | null {
  return text === null ? null : Number(text);
}

/** The books are right if `discrepancies` is empty. The sum is zero then. */
export interface LedgerReport {
  accounts: number;
  sum: Micros;
  discrepancies: Discrepancy[];
}

export async function checkBooks(database: Database): Promise<LedgerReport> {
  const discrepancies = await verifyLedger(database);
  const totals = await database.transaction(
    async (tx) => {
      await readFromOneSnapshot(tx);
      const [row] = await tx<{ accounts: number; sum: number }[]>`
        with moved as (
          select account, sum(amount) as amount from (
            select to_account as account, amount_micros as amount from ledger
            union all
            select from_account, -amount_micros from ledger
            union all
            select 'platform', price_micros from usage
            where created_at >= (select charges_until from usage_marks) and price_micros > 0 and not (${isSale(tx, tx`model_name`)})
          ) side where account not like 'user:%' group by account
        )
        select ((select count(*) from moved) + (select count(*) from wallets))::int as accounts,
          (coalesce((select sum(amount) from moved), 0)
            + coalesce((select sum(balance_micros) from wallets), 0))::bigint as sum`;
      return row ?? { accounts: 0, sum: 0 };
    },
    { deadlineMs },
  );
  return { ...totals, discrepancies };
}
