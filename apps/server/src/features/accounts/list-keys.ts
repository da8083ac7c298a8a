import type { Caller } from "./caller.ts";
import type { AccountsContext, Page } from "./context.ts";
import { countKeys, type Key, type Range, selectKeys } from "./store.ts";

/** The caller's keys, newest first; expired ones too, revoked ones not. */
export async function listKeys({ database }: AccountsContext, caller: Caller, range: Range): Promise<Page<Key>> {
  const [entries, total] = await Promise.all([
    selectKeys(database.sql, caller.userId, range),
    countKeys(database.sql, caller.userId),
  ]);
  return { entries, total };
}
