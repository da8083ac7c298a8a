import type { Database } from "../../engines/database/database.ts";
import { entriesOf, type LedgerEntry, selectEntries } from "./ledger-store.ts";
import { spanOf, type TimeRange } from "./time-cut.rules.ts";
import { readFromOneSnapshot, selectMarks } from "./time-store.ts";
import { findPlace } from "./timed-list-store.ts";

export interface LedgerPage {
  entries: LedgerEntry[];
  total: number;
}

/** A page of the movements of a user's wallet, newest first, and how many there are. They are kept for ever. */
export async function listLedger(
  database: Database,
  userId: string,
  range: TimeRange,
  page: { limit: number; offset: number },
): Promise<LedgerPage> {
  return database.transaction(async (tx) => {
    const [, marks] = await Promise.all([readFromOneSnapshot(tx), selectMarks(tx)]);
    const span = spanOf(range, marks.now);
    const { total, place } = await findPlace(tx, entriesOf(userId), span, marks, page.offset);
    if (!place) return { entries: [], total };
    const rest = { from: span.from, to: Math.min(span.to, place.ends) };
    return { entries: await selectEntries(tx, userId, rest, { limit: page.limit, offset: place.skip }), total };
  });
}
