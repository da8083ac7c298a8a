import type { Sql } from "../../../engines/database/database.ts";

export interface ConnectorRow {
  domain: string;
  tokenLast4: string;
  /** Null when the token does not say. */
  scopes: string[] | null;
  expiresAt: Date | null;
}

export interface SealedConnectorRow extends ConnectorRow {
  sealedToken: Uint8Array;
}

export async function upsertConnector(sql: Sql, userId: string, row: SealedConnectorRow): Promise<void> {
  await sql`
    insert into idp_connectors (user_id, domain, sealed_token, token_last4, scopes, expires_at)
    values (${userId}, ${row.domain}, ${row.sealedToken as Buffer}, ${row.tokenLast4}, ${row.scopes}::text[],
      ${row.expiresAt})
    on conflict (user_id) do update set domain = excluded.domain, sealed_token = excluded.sealed_token,
      token_last4 = excluded.token_last4, scopes = excluded.scopes, expires_at = excluded.expires_at,
      updated_at = now()`;
}

export async function selectConnector(sql: Sql, userId: string): Promise<SealedConnectorRow | undefined> {
  const [row] = await sql<SealedConnectorRow[]>`
    select domain, sealed_token as "sealedToken", token_last4 as "tokenLast4", scopes, expires_at as "expiresAt"
    from idp_connectors where user_id = ${userId}`;
  return row;
}

export async function deleteConnector(sql: Sql, userId: string): Promise<boolean> {
  const rows = await sql`delete from idp_connectors where user_id = ${userId} returning 1`;
  return rows.length > 0;
}
