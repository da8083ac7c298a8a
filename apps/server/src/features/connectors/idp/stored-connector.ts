import { Fault, fault } from "../../../kernel/errors.ts";
import type { Tenant } from "./call-tenant.ts";
import type { IdpContext } from "./context.ts";
import { type ConnectorRow, selectConnector } from "./store.ts";
import { claimWarnings, expiryWarnings, hasExpired } from "./token-claims.rules.ts";

/** A user's connector as it is shown. */
export interface Connector extends ConnectorRow {
  warnings: string[];
}

/** The domain is part of it: a token sealed for one tenant is never sent to another. */
export const sealContext = (userId: string, domain: string) => `idp:${userId}:${domain}`;

export async function readConnector(context: IdpContext, userId: string): Promise<Connector> {
  const { sealedToken: _sealed, ...row } = await findOrThrow(context, userId);
  return { ...row, warnings: claimWarnings(row, context.clock.now()) };
}

/** For calls: with the token, and with the warnings that bear on every call. */
export async function openConnector(
  context: IdpContext,
  userId: string,
): Promise<{ tenant: Tenant; connector: Connector }> {
  const { sealedToken, ...row } = await findOrThrow(context, userId);
  const warnings = expiryWarnings(row.expiresAt, context.clock.now());
  const token = unseal(context, sealedToken, sealContext(userId, row.domain));
  return { tenant: { userId, domain: row.domain, token }, connector: { ...row, warnings } };
}

/** Why every call would fail, as far as that can be told without one: there is no connector, or its token is no good. */
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
    throw fault("not_found", "The identity connector is not set up: PUT /v1/connectors/idp with domain and token");
  return row;
}

function unseal({ vault }: IdpContext, sealed: Uint8Array, context: string): string {
  try {
    return vault.open(sealed, context);
  } catch (cause) {
    throw fault("conflict", "The stored token can no longer be opened: store it again with PUT /v1/connectors/idp", {
      cause,
    });
  }
}
