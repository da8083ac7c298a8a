import { hash } from "node:crypto";
import type { Sql } from "../../engines/database/database.ts";
import { newTokenPair } from "./key-format.rules.ts";

/** An app that refreshes early keeps its last tokens until they expire, but not without a bound. */
const maxPerKey = 5;

/** Returns a new access token for the key of a connected app. It works at /mcp, as the key would. */
export async function storeAccessToken(sql: Sql, keyId: string, validUntil: Date): Promise<string> {
  const pair = newTokenPair("ga");
  await sql`
    insert into oauth_access_tokens (public, key_id, secret_hash, valid_until)
    values (${pair.public}, ${keyId}, ${pair.hash}, ${validUntil})`;
  await sql`
    delete from oauth_access_tokens where public in (
      select public from oauth_access_tokens where key_id = ${keyId} and public <> ${pair.public}
      order by valid_until desc, public offset ${maxPerKey - 1})`;
  return pair.key;
}

/** Returns the user whose app had the token; undefined if the token does not belong to that app. */
export async function deleteAccessToken(sql: Sql, token: string, clientId: string): Promise<string | undefined> {
  const publicPart = /^ga_([0-9a-z]{12})_[0-9a-z]{40}$/.exec(token)?.[1];
  if (publicPart === undefined) return undefined;
  const [row] = await sql<{ userId: string }[]>`
    delete from oauth_access_tokens t using oauth_connections c, api_keys k
    where t.secret_hash = ${hash("sha256", token, "buffer")} and t.public = ${publicPart}
      and c.key_id = t.key_id and c.client_id = ${clientId} and k.id = t.key_id
    returning k.user_id as "userId"`;
  return row?.userId;
}

/** Returns how many were deleted: fewer than the limit means that none are left. */
export async function deleteAccessTokens(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from oauth_access_tokens where public in (
      select public from oauth_access_tokens where valid_until < ${before} limit ${limit} for update skip locked
    )`;
  return count;
}
