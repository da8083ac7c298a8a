import type { Database } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import { readFromOneSnapshot } from "./time-store.ts";
import { type Discrepancy, verifyLedger } from "./verify-ledger.ts";

/** What an operator wants to know about the books. They are right when there is no discrepancy; then the sum is zero. */
export interface LedgerReport {
  accounts: number;
  sum: Micros;
  discrepancies: Discrepancy[];
}

const deadlineMs = 60 * 60_000;

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
            where created_at >= (select charges_until from usage_marks) and price_micros > 0 and not is_sale(model_name)
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
