import type { Caller } from "./caller.ts";
import type { AccountsContext, Page } from "./context.ts";
import { scopeOf } from "./key-reach.rules.ts";
import { countKeys, type Key, type Range, selectKeys } from "./store.ts";

/** The caller's keys, newest first: expired ones too, but no revoked ones and none of ended sessions. */
export async function listKeys({ database, clock }: AccountsContext, caller: Caller, range: Range): Promise<Page<Key>> {
  const now = clock.now();
  const scope = scopeOf(caller);
  const [entries, total] = await Promise.all([
    selectKeys(database.sql, scope, now, range),
    countKeys(database.sql, scope, now),
  ]);
  return { entries, total };
}
