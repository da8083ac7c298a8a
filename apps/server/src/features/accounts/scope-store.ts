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

/**
 * The rows that a query selects, given the condition for their keys, as a subquery. For a member of a team the query runs for
 * each key, by an index: in the order of time, the few rows of a member may come behind all others of the team.
 */
export function rowsOfKeys(
  sql: Sql,
  { onlyKeyIds }: Pick<Scope, "onlyKeyIds">,
  select: (ofKeys: Query) => Query,
): Query {
  if (onlyKeyIds === null || typeof onlyKeyIds === "string") {
    return sql`(${select(andOfKeys(sql, { onlyKeyIds }, sql`key_id`))})`;
  }
  const { teamId, memberId } = onlyKeyIds;
  return sql`(
    select part.* from api_keys own cross join lateral (${select(sql`and key_id = own.id`)}) part
    where own.user_id = ${teamId} and own.member_id = ${memberId})`;
}
