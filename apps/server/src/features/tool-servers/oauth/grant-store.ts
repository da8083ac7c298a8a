import type { Sql } from "../../../engines/database/database.ts";
import type { SealedGrant } from "./oauth-store.ts";

/**
 * The authorization of one user for one server.
 *
 *   (callback) ──► usable ──refused refresh, or 401 with a fresh token──► ended (no tokens) ──(callback)──► usable
 */
export interface StoredGrant extends SealedGrant {
  grantId: string;
  version: string;
  isDue: boolean;
  lastError: string | null;
}

export interface Key {
  serverId: string;
  userId: string;
}

function columns(sql: Sql) {
  return sql`
    user_id as "userId", sealed_tokens as "sealedTokens", grant_id as "grantId", version,
    coalesce(refresh_at <= now(), false) as "isDue", last_error as "lastError"`;
}

export async function selectGrant(sql: Sql, { serverId, userId }: Key): Promise<StoredGrant | undefined> {
  const [row] = await sql<StoredGrant[]>`
    select ${columns(sql)} from tool_server_authorizations
    where server_id = ${serverId} and user_id = ${userId}`;
  return row;
}

/** Ids of the servers that the user has authorized. */
export async function selectAuthorized(sql: Sql, userId: string, serverIds: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select server_id as id from tool_server_authorizations
    where user_id = ${userId} and server_id = any(${[...serverIds]}::text[]) and sealed_tokens is not null`;
  return new Set(rows.map(({ id }) => id));
}

export interface NewTokens {
  sealedTokens: Uint8Array;
  version: string;
  /** A fifth of the lifetime, at most a minute, is left for the calls that use the token. */
  refreshInSeconds: number | null;
}

/** False if the server changed since the user got the link. */
export async function storeGrant(
  sql: Sql,
  { serverId, userId, revision }: Key & { revision: number },
  { grantId, sealedTokens, version, refreshInSeconds }: NewTokens & { grantId: string },
): Promise<boolean> {
  const rows = await sql`
    with server as (
      select id from tool_servers
      where id = ${serverId} and revision = ${revision} and auth_type = 'oauth' for share
    )
    insert into tool_server_authorizations (server_id, user_id, sealed_tokens, grant_id, version, refresh_at)
    select id, ${userId}, ${sealedTokens as Buffer}, ${grantId}, ${version},
      now() + make_interval(secs => ${refreshInSeconds}::float8)
    from server
    on conflict (server_id, user_id) do update set sealed_tokens = excluded.sealed_tokens,
      grant_id = excluded.grant_id, version = excluded.version, refresh_at = excluded.refresh_at,
      refresh_claim = null, refresh_lease_until = null, last_error = null, updated_at = now()
    returning 1`;
  return rows.length > 0;
}

/**
 * Takes the right to refresh these tokens. Longer than a refresh can take: a refresh token that works once must not be
 * used by two nodes.
 */
export async function claimRefresh(
  sql: Sql,
  { serverId, userId }: Key,
  { version, claim }: { version: string; claim: string },
): Promise<StoredGrant | undefined> {
  const [row] = await sql<StoredGrant[]>`
    update tool_server_authorizations
    set refresh_claim = ${claim}, refresh_lease_until = now() + interval '30 seconds'
    where server_id = ${serverId} and user_id = ${userId} and version = ${version} and sealed_tokens is not null
      and (refresh_lease_until is null or refresh_lease_until < now())
    returning ${columns(sql)}`;
  return row;
}

export async function releaseRefresh(sql: Sql, { serverId, userId }: Key, claim: string): Promise<void> {
  await sql`
    update tool_server_authorizations set refresh_claim = null, refresh_lease_until = null
    where server_id = ${serverId} and user_id = ${userId} and refresh_claim = ${claim}`;
}

/** False if the tokens were replaced or forgotten meanwhile. */
export async function replaceTokens(
  sql: Sql,
  { serverId, userId }: Key,
  former: string,
  { sealedTokens, version, refreshInSeconds }: NewTokens,
): Promise<boolean> {
  const rows = await sql`
    update tool_server_authorizations set sealed_tokens = ${sealedTokens as Buffer}, version = ${version},
      refresh_at = now() + make_interval(secs => ${refreshInSeconds}::float8), refresh_claim = null,
      refresh_lease_until = null, updated_at = now()
    where server_id = ${serverId} and user_id = ${userId} and version = ${former}
    returning 1`;
  return rows.length > 0;
}

/** The tokens do not work any more. False if they were replaced meanwhile. */
export async function endGrant(
  sql: Sql,
  { serverId, userId }: Key,
  { former, version, lastError }: { former: string; version: string; lastError: string },
): Promise<boolean> {
  const rows = await sql`
    update tool_server_authorizations set sealed_tokens = null, version = ${version}, refresh_at = null,
      refresh_claim = null, refresh_lease_until = null, last_error = ${lastError}, updated_at = now()
    where server_id = ${serverId} and user_id = ${userId} and version = ${former}
    returning 1`;
  return rows.length > 0;
}

export async function deleteGrant(sql: Sql, { serverId, userId }: Key): Promise<SealedGrant | undefined> {
  await sql`delete from tool_server_flows where server_id = ${serverId} and user_id = ${userId}`;
  const [row] = await sql<SealedGrant[]>`
    delete from tool_server_authorizations where server_id = ${serverId} and user_id = ${userId}
    returning user_id as "userId", sealed_tokens as "sealedTokens"`;
  return row;
}
