import { isObject } from "./mask.rules.ts";

/** What a management token says about itself. Nothing is verified: the tenant does that, this only informs. */
export interface TokenClaims {
  /** Null when the token cannot be read. */
  scopes: string[] | null;
  expiresAt: Date | null;
}

const soonMs = 3_600_000;
/** In seconds, the last one of the year 9999. What is later says nothing, such as a token that counts milliseconds. */
const latestExpiry = 253_402_300_799;
/** As the standard has them; anything else names nothing that the tenant could have granted. */
const scopeToken = /^[\x21-\x7e]+$/;

export function readClaims(token: string): TokenClaims {
  const claims = payloadOf(token);
  if (!claims) return { scopes: null, expiresAt: null };
  const { scope, exp } = claims;
  return {
    scopes: typeof scope === "string" ? [...new Set(scope.split(" ").filter((one) => scopeToken.test(one)))] : null,
    expiresAt: typeof exp === "number" && exp > 0 && exp <= latestExpiry ? new Date(exp * 1000) : null,
  };
}

function payloadOf(token: string): Record<string, unknown> | undefined {
  const parts = token.split(".");
  if (parts.length !== 3 || parts[1] === undefined) return undefined;
  try {
    const payload: unknown = JSON.parse(Buffer.from(parts[1], "base64url").toString("utf8"));
    return isObject(payload) ? payload : undefined;
  } catch {
    return undefined;
  }
}

export function hasExpired(expiresAt: Date | null, now: Date): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/** Said wherever the connector is looked at or used, so that nobody learns it from a failing action. */
export function expiryWarnings(expiresAt: Date | null, now: Date): string[] {
  if (!expiresAt) return [];
  const left = expiresAt.getTime() - now.getTime();
  const renew = "store a new one with PUT /v1/connectors/idp";
  if (hasExpired(expiresAt, now)) return [`The management token expired at ${expiresAt.toISOString()}: ${renew}`];
  if (left > soonMs) return [];
  const minutes = Math.max(1, Math.floor(left / 60_000));
  return [`The management token expires in ${minutes} min, at ${expiresAt.toISOString()}: ${renew}`];
}

/** What the one read asks for by which a new token is checked. */
const checkScope = "read:tenant_settings";

export const uncheckedWarning = `The token lacks ${checkScope}, so it was recognised but not fully checked`;

/** All that the token says of itself which whoever looks at the connector should know. */
export function claimWarnings({ scopes, expiresAt }: TokenClaims, now: Date): string[] {
  return [...scopeWarnings(scopes), ...expiryWarnings(expiresAt, now)];
}

function scopeWarnings(scopes: readonly string[] | null): string[] {
  if (!scopes) return ["The token does not say its scopes: what it lacks shows when an action is run"];
  return isAllowed(scopes, [checkScope]) ? [] : [uncheckedWarning];
}

/** Whether the token has one of the scopes; null when it does not say what it has. */
export function isAllowed(scopes: readonly string[] | null, wanted: readonly string[]): boolean | null {
  return scopes ? wanted.some((scope) => scopes.includes(scope)) : null;
}
