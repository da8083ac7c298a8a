import type { Sql } from "../../../engines/database/database.ts";
import { Fault, fault } from "../../../kernel/errors.ts";
import type { IdpContext, Tenant } from "./call-tenant.ts";
import { claimWarnings, expiryWarnings, hasExpired } from "./token-claims.rules.ts";

export interface Connector extends ConnectorRow {
  warnings: string[];
}

/** Bound to the domain: a token is never sent to another tenant. */
export const sealContext = (userId: string, domain: string) => `idp:${userId}:${domain}`;

export async function readConnector(context: IdpContext, userId: string): Promise<Connector> {
  const { sealedToken: _sealed, ...row } = await findOrThrow(context, userId);
  return { ...row, warnings: claimWarnings(row, context.clock.now()) };
}

/** With the token and the warnings for every call. */
export async function openConnector(
  context: IdpContext,
  userId: string,
): Promise<{ tenant: Tenant; connector: Connector }> {
  const { sealedToken, ...row } = await findOrThrow(context, userId);
  const warnings = expiryWarnings(row.expiresAt, context.clock.now());
  const token = unseal(context, sealedToken, sealContext(userId, row.domain));
  return { tenant: { userId, domain: row.domain, token }, connector: { ...row, warnings } };
}

/** Why every call would fail, if that is known without one: no connector, or an expired token. */
export async function connectorTrouble(context: IdpContext, userId: string): Promise<string | undefined> {
  try {
    const { connector } = await openConnector(context, userId);
    return hasExpired(connector.expiresAt, context.clock.now()) ? connector.warnings[0] : undefined;
  } catch (error) {
    if (error instanceof Fault && (error.type === "not_found" || error.type === "conflict")) return error.message;
    throw error;
  }
}

async function findOrThrow(context: IdpContext, userId: string) {
  const row = await selectConnector(context.database.sql, userId);
  if (!row)
    throw fault(
      "not_found",
      "The identity connector is not set up. Store domain and token with PUT /v1/connectors/idp.",
    );
  return row;
}

function unseal({ vault }: IdpContext, sealed: Uint8Array, context: string): string {
  try {
    return vault.open(sealed, context);
  } catch (cause) {
    throw fault("conflict", "The stored token cannot be opened any more. Store it again with PUT /v1/connectors/idp.", {
      cause,
    });
  }
}

export interface ConnectorRow {
  domain: string;
  tokenLast4: string;
  /** Null if the token does not contain scopes. */
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
