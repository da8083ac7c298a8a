import type { Database } from "../../engines/database/database.ts";
import { ledgerChecks } from "./ledger-checks.ts";
import { readFromOneSnapshot } from "./time-store.ts";

/** Something in the books that contradicts something else in them. Amounts are in millionths of a dollar. */
export interface Discrepancy {
  rule: string;
  /** The wallet, request, model or hour that it is about. */
  subject: string;
  expected: number | null;
  found: number | null;
}

/** More of one kind are counted, not listed. */
const listedOfEach = 50;
const deadlineMs = 60 * 60_000;

/**
 * Proves, in one snapshot while everything goes on, that the books are right: accounts, wallets, reservations, counters,
 * charges, usage and its sums. An empty list is the proof.
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

/** Sums are of the type numeric, which may hold more than a bigint. */
function figure(text: string | null): number | null {
  return text === null ? null : Number(text);
}
