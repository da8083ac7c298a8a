import { isRecord } from "../../../kernel/is-record.ts";

/** Claims of a management token. Not verified: the tenant does that. */
export interface TokenClaims {
  /** Null if the token cannot be read. */
  scopes: string[] | null;
  expiresAt: Date | null;
}

const soonMs = 3_600_000;
/** Last second of the year 9999. A later value is wrong, for example in milliseconds. */
const latestExpiry = 253_402_300_799;
/** Scope syntax of the OAuth standard. */
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
    return isRecord(payload) ? payload : undefined;
  } catch {
    return undefined;
  }
}

export function hasExpired(expiresAt: Date | null, now: Date): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/** Shown wherever the connector is read or used. */
export function expiryWarnings(expiresAt: Date | null, now: Date): string[] {
  if (!expiresAt) return [];
  const left = expiresAt.getTime() - now.getTime();
  const renew = "store a new one with PUT /v1/connectors/idp";
  if (hasExpired(expiresAt, now)) return [`The management token expired at ${expiresAt.toISOString()}: ${renew}`];
  if (left > soonMs) return [];
  const minutes = Math.max(1, Math.floor(left / 60_000));
  return [`The management token expires in ${minutes} min, at ${expiresAt.toISOString()}: ${renew}`];
}

/** Needed by the read that checks a new token. */
const checkScope = "read:tenant_settings";

export const uncheckedWarning = `The token lacks ${checkScope}, so it was recognised but not fully checked`;

export function claimWarnings({ scopes, expiresAt }: TokenClaims, now: Date): string[] {
  return [...scopeWarnings(scopes), ...expiryWarnings(expiresAt, now)];
}

function scopeWarnings(scopes: readonly string[] | null): string[] {
  if (!scopes) return ["The token does not contain its scopes. A missing scope shows only when an action runs."];
  return isAllowed(scopes, [checkScope]) ? [] : [uncheckedWarning];
}

/** Null if the token's scopes are unknown. */
export function isAllowed(scopes: readonly string[] | null, wanted: readonly string[]): boolean | null {
  return scopes ? wanted.some((scope) => scopes.includes(scope)) : null;
}
