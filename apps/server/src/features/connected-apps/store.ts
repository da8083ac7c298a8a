import type { Sql } from "../../engines/database/database.ts";

export interface Client {
  id: string;
  /** The app chose it. */
  name: string;
  redirectUris: readonly string[];
  /** Null: a public client. */
  secretHash: Uint8Array | null;
}

/**
 * A key that a user gave an app:
 *
 *   approved ──code──► connected ──refresh──► connected
 *       │                  └─ used twice, revoked, unused for long ─► revoked (its key is)
 *       └─ no code in time ─► revoked
 */
export interface Connection {
  keyId: string;
  userId: string;
  clientId: string;
  redirectUri: string;
  codeHash: Uint8Array;
  codeChallenge: string;
  codeExpiresAt: Date;
  connectedAt: Date | null;
  familyHash: Uint8Array | null;
  refreshHash: Uint8Array | null;
  refreshExpiresAt: Date | null;
  replacedHash: Uint8Array | null;
  replacedSalt: Uint8Array | null;
  replacedUntil: Date | null;
  keyExpiresAt: Date | null;
  isUserActive: boolean;
}

/** False if too many clients were registered since that time. */
export async function insertClient(
  sql: Sql,
  client: Client & { createdAt: Date },
  most: { count: number; since: Date },
): Promise<boolean> {
  const rows = await sql`
    insert into oauth_clients (id, name, redirect_uris, secret_hash, created_at)
    select ${client.id}, ${client.name}, ${client.redirectUris as string[]}::text[], ${client.secretHash}::bytea,
      ${client.createdAt}::timestamptz
    where (select count(*) from oauth_clients where created_at > ${most.since}) < ${most.count}
    returning 1`;
  return rows.length === 1;
}

export async function findClient(sql: Sql, id: string): Promise<Client | undefined> {
  const [client] = await sql<Client[]>`
    select id, name, redirect_uris as "redirectUris", secret_hash as "secretHash" from oauth_clients where id = ${id}`;
  return client;
}

export async function insertConnection(
  sql: Sql,
  connection: Pick<
    Connection,
    "keyId" | "clientId" | "redirectUri" | "codeHash" | "codeChallenge" | "codeExpiresAt"
  > & {
    public: string;
  },
): Promise<void> {
  const { keyId, clientId, redirectUri, codeHash, codeChallenge, codeExpiresAt } = connection;
  await sql`
    insert into oauth_connections (key_id, client_id, public, redirect_uri, code_hash, code_challenge, code_expires_at)
    values (${keyId}, ${clientId}, ${connection.public}, ${redirectUri}, ${codeHash}, ${codeChallenge}, ${codeExpiresAt})`;
}

/** By the public part of its code or refresh token. Undefined once its key is revoked. */
export async function lockConnection(sql: Sql, publicPart: string): Promise<Connection | undefined> {
  const [connection] = await sql<Connection[]>`
    select c.key_id as "keyId", k.user_id as "userId", c.client_id as "clientId", c.redirect_uri as "redirectUri",
      c.code_hash as "codeHash", c.code_challenge as "codeChallenge", c.code_expires_at as "codeExpiresAt",
      c.connected_at as "connectedAt", c.family_hash as "familyHash", c.refresh_hash as "refreshHash",
      c.refresh_expires_at as "refreshExpiresAt", c.replaced_hash as "replacedHash", c.replaced_salt as "replacedSalt",
      c.replaced_until as "replacedUntil", k.expires_at as "keyExpiresAt",
      u.disabled_at is null and u.role <> 'system' as "isUserActive"
    from oauth_connections c join api_keys k on k.id = c.key_id join users u on u.id = k.user_id
    where c.public = ${publicPart} and k.revoked_at is null
    for update of c`;
  return connection;
}

/** The code stays: its second use must be recognised. */
export async function connect(
  sql: Sql,
  keyId: string,
  given: { familyHash: Uint8Array; refreshHash: Uint8Array; connectedAt: Date; refreshExpiresAt: Date },
): Promise<void> {
  await sql`
    update oauth_connections set connected_at = ${given.connectedAt}, family_hash = ${given.familyHash},
      refresh_hash = ${given.refreshHash}, refresh_expires_at = ${given.refreshExpiresAt}
    where key_id = ${keyId}`;
}

export async function replaceRefreshToken(
  sql: Sql,
  keyId: string,
  given: {
    refreshHash: Uint8Array;
    refreshExpiresAt: Date;
    replacedHash: Uint8Array;
    replacedSalt: Uint8Array;
    replacedUntil: Date;
  },
): Promise<void> {
  await sql`
    update oauth_connections set refresh_hash = ${given.refreshHash}, refresh_expires_at = ${given.refreshExpiresAt},
      replaced_hash = ${given.replacedHash}, replaced_salt = ${given.replacedSalt},
      replaced_until = ${given.replacedUntil}
    where key_id = ${keyId}`;
}

// For retention. Each returns how many rows it changed: fewer than the limit means that none are left.

/** Registered before that time and not connected by anyone. */
export async function deleteUnusedClients(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from oauth_clients where id in (
      select id from oauth_clients o where created_at < ${before}
        and not exists (select from oauth_connections c where c.client_id = o.id)
      order by created_at limit ${limit} for update skip locked
    )`;
  return count;
}

/** Apps that did not fetch their tokens, and apps that did not refresh them in time. */
export async function revokeLapsedConnections(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    update api_keys set revoked_at = now() where id in (
      select k.id from oauth_connections c join api_keys k on k.id = c.key_id
      where k.revoked_at is null and coalesce(c.refresh_expires_at, c.code_expires_at) < ${before}
      limit ${limit} for update of k skip locked
    )`;
  return count;
}

/** Revoked keys stay for the ledger. */
export async function deleteOldConnections(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from oauth_connections where key_id in (
      select c.key_id from oauth_connections c join api_keys k on k.id = c.key_id
      where k.revoked_at < ${before} limit ${limit} for update of c skip locked
    )`;
  return count;
}
