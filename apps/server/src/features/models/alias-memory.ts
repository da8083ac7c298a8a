import type { Sql } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import { findTarget } from "./alias-store.ts";
import { RecentValues } from "./recent-values.ts";

/** A name has at most 63 characters and a target 110, so this is a few megabytes. */
const maxAliases = 10_000;

/** Targets by user and name. */
export type AliasMemory = RecentValues<string>;

export function createAliasMemory(sql: Sql, log: Log): AliasMemory {
  const find = (key: string) => {
    const [userId = "", name = ""] = key.split(" ");
    return findTarget(sql, userId, name);
  };
  return new RecentValues<string>({ find, maxValues: maxAliases, log });
}

/** `key` without a user: the name has changed for all users. */
export function forgetAlias(memory: AliasMemory, key: string): void {
  if (key.startsWith(" ")) memory.forgetWhere((_, known) => known.endsWith(key));
  else memory.forget(key);
}
