import type { Sql } from "../../engines/database/database.ts";
import type { Scope } from "./key-reach.rules.ts";

type Query = ReturnType<Sql>;

/** Continues a condition: only rows of the keys that the scope is limited to. */
export function andOfKeys(sql: Sql, { onlyKeyIds }: Pick<Scope, "onlyKeyIds">, column: Query): Query {
  return onlyKeyIds === null ? sql`` : sql`and ${ofKeys(sql, onlyKeyIds, column)}`;
}

/** With one key the planner can read an index by key and time in its order. */
export function ofKeys(sql: Sql, keyIds: readonly string[], column: Query): Query {
  const [first] = keyIds;
  return keyIds.length === 1 && first !== undefined
    ? sql`${column} = ${first}`
    : sql`${column} = any(${keyIds as string[]}::text[])`;
}
