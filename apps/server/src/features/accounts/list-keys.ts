import type { Caller } from "./caller.ts";
import type { AccountsContext, Page } from "./context.ts";
import { countKeys, type Key, type Range, selectKeys } from "./store.ts";

/** The caller's keys, newest first; expired ones too, revoked ones and those of ended sessions not. */
export async function listKeys({ database, clock }: AccountsContext, caller: Caller, range: Range): Promise<Page<Key>> {
  const now = clock.now();
  const [entries, total] = await Promise.all([
    selectKeys(database.sql, caller.userId, now, range),
    countKeys(database.sql, caller.userId, now),
  ]);
  return { entries, total };
}
