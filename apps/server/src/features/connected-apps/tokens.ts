import { randomBytes } from "node:crypto";
import type { Sql } from "../../engines/database/database.ts";
import { endKey, sameHash, storeAccessToken } from "../accounts/index.ts";
import { isOwnResource, only } from "./authorization-request.ts";
import type { ConnectedAppsContext } from "./context.ts";
import { type OAuthRefusal, refusal } from "./oauth-refusal.ts";
import { firstRefreshToken, hashOfToken, nextRefreshToken, readRefreshToken } from "./refresh-token.rules.ts";
import { type Client, type Connection, connect, lockConnection, replaceRefreshToken } from "./store.ts";

export interface Tokens {
  accessToken: string;
  expiresInSeconds: number;
  refreshToken: string;
}

/** The only scope: what /mcp offers the connection. */
export const mcpScope = "mcp";

const accessMs = 3_600_000;
/** Each refresh begins it again. */
const refreshMs = 60 * 24 * 3_600_000;
/** An app that lost an answer, or that refreshes in two processes at once, gets the same token again. */
const repeatMs = 60_000;
const codeForm = /^gc_([0-9a-z]{12})_[0-9a-z]{40}$/;
const verifierForm = /^[A-Za-z0-9._~-]{43,128}$/;

type Outcome = { tokens: Tokens } | { refused: OAuthRefusal; revokedOf?: string };

/** Answers the token endpoint for an app that has proved who it is. */
export async function issueTokens(
  context: ConnectedAppsContext,
  client: Client,
  form: URLSearchParams,
  base: string,
): Promise<Tokens> {
  if (!form.getAll("resource").every((resource) => isOwnResource(resource, base))) {
    throw refusal("invalid_target", `The only resource here is ${base}/mcp`);
  }
  switch (only(form, "grant_type")) {
    case "authorization_code":
      return concluded(context, await exchangeCode(context, client, form));
    case "refresh_token":
      return concluded(context, await refresh(context, client, form));
    case undefined:
      throw refusal("invalid_request", "grant_type must be given once");
    default:
      throw refusal("unsupported_grant_type", "grant_type must be authorization_code or refresh_token");
  }
}

function concluded({ accounts }: ConnectedAppsContext, outcome: Outcome): Tokens {
  if ("tokens" in outcome) return outcome.tokens;
  if (outcome.revokedOf !== undefined) accounts.forgetUser(outcome.revokedOf);
  throw outcome.refused;
}

async function exchangeCode(context: ConnectedAppsContext, client: Client, form: URLSearchParams): Promise<Outcome> {
  const [code, redirectUri, verifier] = ["code", "redirect_uri", "code_verifier"].map((name) => only(form, name));
  if (code === undefined || redirectUri === undefined || verifier === undefined) {
    throw refusal("invalid_request", "code, redirect_uri and code_verifier must each be given once");
  }
  const publicPart = codeForm.exec(code)?.[1];
  if (publicPart === undefined) throw invalidCode();
  return context.database.transaction(async (tx): Promise<Outcome> => {
    const now = context.clock.now();
    const connection = await lockConnection(tx, publicPart);
    if (!connection || !sameHash(connection.codeHash, hashOfToken(code))) return { refused: invalidCode() };
    if (connection.clientId !== client.id) return { refused: invalidCode() };
    if (connection.connectedAt !== null) return revoke(context, tx, connection, "An authorization code", invalidCode());
    const isValid =
      connection.codeExpiresAt > now &&
      connection.redirectUri === redirectUri &&
      verifierForm.test(verifier) &&
      sameHash(hashOfToken(verifier), Buffer.from(connection.codeChallenge, "base64url")) &&
      isUsable(connection, now);
    if (!isValid) return { refused: invalidCode() };
    const first = firstRefreshToken(publicPart);
    await connect(tx, connection.keyId, {
      familyHash: hashOfToken(first.family),
      refreshHash: hashOfToken(first.token),
      connectedAt: now,
      refreshExpiresAt: new Date(now.getTime() + refreshMs),
    });
    return { tokens: await accessFor(tx, connection, first.token, now) };
  });
}

async function refresh(context: ConnectedAppsContext, client: Client, form: URLSearchParams): Promise<Outcome> {
  const text = only(form, "refresh_token");
  if (text === undefined) throw refusal("invalid_request", "refresh_token must be given once");
  const presented = readRefreshToken(text);
  if (!presented) throw invalidRefreshToken();
  return context.database.transaction(async (tx): Promise<Outcome> => {
    const now = context.clock.now();
    const connection = await lockConnection(tx, presented.public);
    if (!connection || !isHashOf(connection.familyHash, presented.family)) return { refused: invalidRefreshToken() };
    if (connection.clientId !== client.id || !isUsable(connection, now)) return { refused: invalidRefreshToken() };
    if (connection.refreshExpiresAt === null || connection.refreshExpiresAt <= now) {
      return { refused: invalidRefreshToken() };
    }
    if (isHashOf(connection.refreshHash, text)) {
      const salt = randomBytes(32);
      const next = nextRefreshToken(presented, salt);
      await replaceRefreshToken(tx, connection.keyId, {
        refreshHash: hashOfToken(next),
        refreshExpiresAt: new Date(now.getTime() + refreshMs),
        replacedHash: hashOfToken(text),
        replacedSalt: salt,
        replacedUntil: new Date(now.getTime() + repeatMs),
      });
      return { tokens: await accessFor(tx, connection, next, now) };
    }
    const { replacedHash, replacedSalt, replacedUntil } = connection;
    const isRepeat = isHashOf(replacedHash, text) && replacedUntil !== null && replacedUntil > now;
    if (isRepeat && replacedSalt !== null) {
      return { tokens: await accessFor(tx, connection, nextRefreshToken(presented, replacedSalt), now) };
    }
    return revoke(context, tx, connection, "A refresh token", invalidRefreshToken());
  });
}

/** Two parties have the same secret, and either can be the app. */
async function revoke(
  { clock, log }: ConnectedAppsContext,
  tx: Sql,
  { keyId, userId }: Connection,
  what: string,
  refused: OAuthRefusal,
): Promise<Outcome> {
  await endKey(tx, { id: keyId, userId }, clock.now());
  log.warn({ key_id: keyId, user_id: userId }, `${what} of a connected app was used twice. Its key is revoked.`);
  return { refused, revokedOf: userId };
}

async function accessFor(tx: Sql, connection: Connection, refreshToken: string, now: Date): Promise<Tokens> {
  const end = Math.min(now.getTime() + accessMs, connection.keyExpiresAt?.getTime() ?? Number.POSITIVE_INFINITY);
  const accessToken = await storeAccessToken(tx, connection.keyId, new Date(end));
  return { accessToken, refreshToken, expiresInSeconds: Math.floor((end - now.getTime()) / 1000) };
}

function isUsable({ isUserActive, keyExpiresAt }: Connection, now: Date): boolean {
  return isUserActive && (keyExpiresAt === null || keyExpiresAt > now);
}

function isHashOf(stored: Uint8Array | null, text: string): boolean {
  return stored !== null && sameHash(stored, hashOfToken(text));
}

/** The same text for all causes, so that guessing reveals nothing. */
function invalidCode(): OAuthRefusal {
  return refusal("invalid_grant", "The authorization code is invalid, was used or has expired. Connect again.");
}

function invalidRefreshToken(): OAuthRefusal {
  return refusal("invalid_grant", "The refresh token is invalid, was revoked or has expired. Connect again.");
}
