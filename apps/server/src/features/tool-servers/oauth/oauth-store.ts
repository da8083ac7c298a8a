import type { Sql } from "../../../engines/database/database.ts";

/** What the owner of a server gave for OAuth. */
export interface GivenClient {
  clientId: string | null;
  sealedSecret: Uint8Array | null;
  scope: string | null;
}

export async function selectGivenClient(sql: Sql, serverId: string): Promise<GivenClient | undefined> {
  const [row] = await sql<GivenClient[]>`
    select client_id as "clientId", sealed_secret as "sealedSecret", scope
    from tool_server_oauth where server_id = ${serverId}`;
  return row;
}

export async function replaceGivenClient(sql: Sql, serverId: string, given: GivenClient | undefined): Promise<void> {
  await sql`delete from tool_server_oauth where server_id = ${serverId}`;
  if (!given) return;
  await sql`
    insert into tool_server_oauth (server_id, client_id, sealed_secret, scope)
    values (${serverId}, ${given.clientId}, ${given.sealedSecret as Buffer | null}, ${given.scope})`;
}

/** The first authorization server stays. Returns the one that is stored. */
export async function keepIssuer(sql: Sql, serverId: string, issuer: string): Promise<string | undefined> {
  const [row] = await sql<{ issuer: string }[]>`
    update tool_server_oauth set issuer = coalesce(issuer, ${issuer}) where server_id = ${serverId} returning issuer`;
  return row?.issuer;
}

export async function forgetIssuer(sql: Sql, serverId: string): Promise<void> {
  await sql`update tool_server_oauth set issuer = null where server_id = ${serverId}`;
}

export interface StoredClient {
  sealed: Uint8Array;
  isFresh: boolean;
}

/** The endpoints are read again after an hour. */
export async function selectClient(sql: Sql, serverId: string, redirectUri: string): Promise<StoredClient | undefined> {
  const [row] = await sql<StoredClient[]>`
    select sealed, updated_at > now() - interval '1 hour' as "isFresh"
    from tool_server_clients where server_id = ${serverId} and redirect_uri = ${redirectUri}`;
  return row;
}

const mostClients = 20;

/** Nothing is stored if the server changed meanwhile, or is being changed: this waits for a change under way. */
export async function storeClient(
  sql: Sql,
  server: { id: string; revision: number },
  redirectUri: string,
  sealed: Uint8Array,
): Promise<void> {
  await sql`
    with server as (
      select id from tool_servers
      where id = ${server.id} and revision = ${server.revision} and auth_type = 'oauth' for share
    )
    insert into tool_server_clients (server_id, redirect_uri, sealed)
    select id, ${redirectUri}, ${sealed as Buffer} from server
    on conflict (server_id, redirect_uri) do update set sealed = excluded.sealed, updated_at = now()`;
  // Without GANTRY_PUBLIC_URL the redirect address has the host that a request names.
  await sql`
    delete from tool_server_clients where server_id = ${server.id} and redirect_uri not in (
      select redirect_uri from tool_server_clients where server_id = ${server.id}
      order by updated_at desc limit ${mostClients})`;
}

export async function deleteClients(sql: Sql, serverId: string): Promise<void> {
  await sql`delete from tool_server_clients where server_id = ${serverId}`;
}

export interface StoredFlow {
  serverId: string;
  userId: string;
  redirectUri: string;
  sealed: Uint8Array;
  expiresAt: Date;
}

/** A link that the user has and that lasts long enough. */
export async function selectFlow(
  sql: Sql,
  { serverId, userId }: { serverId: string; userId: string },
  leastSeconds: number,
): Promise<StoredFlow | undefined> {
  const [row] = await sql<StoredFlow[]>`
    select server_id as "serverId", user_id as "userId", redirect_uri as "redirectUri", sealed,
      expires_at as "expiresAt"
    from tool_server_flows
    where server_id = ${serverId} and user_id = ${userId} 
      and expires_at > now() + make_interval(secs => ${leastSeconds})`;
  return row;
}

/** Replaces the link that the user had. Undefined if the server changed meanwhile. */
export async function storeFlow(
  sql: Sql,
  server: { id: string; revision: number },
  flow: { userId: string; stateHash: string; redirectUri: string; sealed: Uint8Array },
): Promise<Date | undefined> {
  const [row] = await sql<{ expiresAt: Date }[]>`
    insert into tool_server_flows (server_id, user_id, state_hash, redirect_uri, sealed, expires_at)
    select id, ${flow.userId}, ${flow.stateHash}, ${flow.redirectUri}, ${flow.sealed as Buffer},
      now() + interval '10 minutes'
    from tool_servers where id = ${server.id} and revision = ${server.revision} and auth_type = 'oauth'
    on conflict (server_id, user_id) do update set state_hash = excluded.state_hash,
      redirect_uri = excluded.redirect_uri, sealed = excluded.sealed, expires_at = excluded.expires_at
    returning expires_at as "expiresAt"`;
  return row?.expiresAt;
}

export async function selectPending(
  sql: Sql,
  stateHash: string,
): Promise<{ name: string; url: string; username: string } | undefined> {
  const [row] = await sql<{ name: string; url: string; username: string }[]>`
    select s.name, s.url, u.username
    from tool_server_flows f join tool_servers s on s.id = f.server_id join users u on u.id = f.user_id
    where f.state_hash = ${stateHash} and f.expires_at > now()`;
  return row;
}

/** Works once: of two requests with the same state one gets the flow. */
export async function takeFlow(sql: Sql, stateHash: string): Promise<StoredFlow | undefined> {
  const [row] = await sql<(StoredFlow & { isExpired: boolean })[]>`
    delete from tool_server_flows where state_hash = ${stateHash}
    returning server_id as "serverId", user_id as "userId", redirect_uri as "redirectUri", sealed,
      expires_at as "expiresAt", expires_at <= now() as "isExpired"`;
  return row?.isExpired ? undefined : row;
}

/** Everything that belongs to the former address or client. Returns tokens to revoke. */
export async function deleteAuthorizations(sql: Sql, serverId: string): Promise<SealedGrant[]> {
  await deleteClients(sql, serverId);
  await sql`delete from tool_server_flows where server_id = ${serverId}`;
  return sql<SealedGrant[]>`
    delete from tool_server_authorizations where server_id = ${serverId}
    returning user_id as "userId", sealed_tokens as "sealedTokens"`;
}

export interface SealedGrant {
  userId: string;
  sealedTokens: Uint8Array | null;
}
