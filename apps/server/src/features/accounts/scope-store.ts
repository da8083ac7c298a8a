import type { Sql } from "../../engines/database/database.ts";
import type { KeyIds, Scope } from "./key-reach.rules.ts";

type Query = ReturnType<Sql>;

/** Continues a condition: only rows of the keys that the scope is limited to. */
export function andOfKeys(sql: Sql, { onlyKeyIds }: Pick<Scope, "onlyKeyIds">, column: Query): Query {
  return onlyKeyIds === null ? sql`` : sql`and ${ofKeys(sql, onlyKeyIds, column)}`;
}

/** With one key the planner can read an index by key and time in its order. */
export function ofKeys(sql: Sql, keyIds: KeyIds, column: Query): Query {
  if (typeof keyIds === "string") return sql`${column} = ${keyIds}`;
  const { teamId, memberId } = keyIds;
  return sql`${column} in (select own.id from api_keys own where own.user_id = ${teamId} and own.member_id = ${memberId})`;
}
