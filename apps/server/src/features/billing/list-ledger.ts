import type { Database } from "../../engines/database/database.ts";
import { entriesOf, type LedgerEntry, selectEntries } from "./ledger-store.ts";
import { type PageRange, readTimedPage, type TimedPage } from "./read-timed-page.ts";
import type { TimeRange } from "./time-cut.rules.ts";

export type LedgerPage = TimedPage<LedgerEntry>;

/** A page of the movements of a user's wallet. They are kept for ever. */
export function listLedger(database: Database, userId: string, range: TimeRange, page: PageRange): Promise<LedgerPage> {
  return readTimedPage(database, entriesOf(userId), range, page, {
    select: (sql, span, rest, marks) => selectEntries(sql, userId, span, rest, marks),
  });
}
