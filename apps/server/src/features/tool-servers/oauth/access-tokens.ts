import { randomUUID } from "node:crypto";
import type { Sql } from "../../../engines/database/database.ts";
import { OAuthError, type OAuthTokens } from "../../../engines/tools/oauth/oauth.ts";
import { ToolServerError } from "../../../engines/tools/tools.ts";
import { isUnavailable } from "../../../kernel/errors.ts";
import { sleep } from "../../../kernel/sleep.ts";
import type { ToolServersContext } from "../context.ts";
import type { ToolServer } from "../tool-server.ts";
import {
  claimRefresh,
  endGrant,
  type Key,
  type NewTokens,
  releaseRefresh,
  replaceTokens,
  type StoredGrant,
  selectGrant,
} from "./grant-store.ts";
import { deleteClients } from "./oauth-store.ts";
import { asServerError } from "./registrations.ts";
import { revokeLater } from "./revoke.ts";
import { type Grant, sealedGrant } from "./sealed.ts";

type Place = Pick<ToolServer, "id" | "url">;

/** What a call sends, and the grant and version that it belongs to. */
export interface Access {
  token: string;
  grantId: string;
  version: string;
}

export function authorizationRequired(lastError?: string | null): ToolServerError {
  const why = lastError ? ` (${lastError})` : "";
  return new ToolServerError("authorization_required", `The server requires your authorization${why}`);
}

/** The user's own token. A token that ends soon is refreshed first. */
export async function accessOf(context: ToolServersContext, server: Place, userId: string): Promise<Access> {
  const stored = await selectGrant(context.database.sql, { serverId: server.id, userId });
  const grant = openGrant(context, server, stored);
  if (!stored || !grant) throw authorizationRequired(stored?.lastError);
  if (!stored.isDue || grant.tokens.refreshToken === undefined) return accessIn(stored, grant);
  try {
    return await refreshedAccess(context, server, userId, stored.version);
  } catch (error) {
    // The token may still work for a while.
    if (error instanceof ToolServerError && error.reason === "unreachable") return accessIn(stored, grant);
    throw error;
  }
}

function openGrant(
  { vault }: ToolServersContext,
  { id, url }: Place,
  stored: StoredGrant | undefined,
): Grant | undefined {
  const grant = stored?.sealedTokens ? sealedGrant.open(vault, stored.sealedTokens, stored.userId, id) : undefined;
  // A node of an earlier version changes the address without deleting the tokens.
  return grant?.url === url ? grant : undefined;
}

function accessIn({ grantId, version }: StoredGrant, { tokens }: Grant): Access {
  return { token: tokens.accessToken, grantId, version };
}

/** Longer than a refresh of another node, and than the lease of one that died. */
const longestWaitMs = 45_000;
/** Ends before the lease of the refresh does. */
const longestStoreMs = 25_000;
const pauseMs = 150;

/**
 * Newer tokens than `former`. One node refreshes; the others wait for its result. If a node dies between the answer and
 * the store, the next one tries the former refresh token. A server that accepts each one once refuses it, which ends the
 * grant.
 */
export async function refreshedAccess(
  context: ToolServersContext,
  server: Place,
  userId: string,
  former: string,
): Promise<Access> {
  const { sql } = context.database;
  const key = { serverId: server.id, userId };
  const giveUpAt = performance.now() + longestWaitMs;
  for (;;) {
    const claim = randomUUID();
    const claimed = await claimRefresh(sql, key, { version: former, claim });
    if (claimed) await refresh(context, server, claimed, claim);
    const stored = await selectGrant(sql, key);
    const grant = openGrant(context, server, stored);
    if (!stored || !grant) throw authorizationRequired(stored?.lastError);
    if (stored.version !== former) return accessIn(stored, grant);
    if (performance.now() > giveUpAt) {
      throw new ToolServerError("unreachable", "The authorization server did not answer in time");
    }
    await sleep(pauseMs);
  }
}

async function refresh(context: ToolServersContext, server: Place, stored: StoredGrant, claim: string): Promise<void> {
  const { database, oauth, vault } = context;
  const key = { serverId: server.id, userId: stored.userId };
  const giveUpAt = performance.now() + longestStoreMs;
  const grant = openGrant(context, server, stored);
  if (grant?.tokens.refreshToken === undefined) {
    return endAccess(context, server, stored, "The authorization has expired");
  }
  let tokens: OAuthTokens;
  try {
    tokens = await oauth.refresh(grant.server, grant.client, grant.tokens.refreshToken);
  } catch (error) {
    if (error instanceof OAuthError && error.reason === "refused") {
      return endAccess(context, server, stored, "The authorization has expired or was revoked");
    }
    await releaseRefresh(database.sql, key, claim);
    throw asServerError(error);
  }
  const next: Grant = {
    ...grant,
    tokens: { ...tokens, refreshToken: tokens.refreshToken ?? grant.tokens.refreshToken },
  };
  const isStored = await keepTokens(database.sql, key, giveUpAt, stored.version, {
    sealedTokens: sealedGrant.seal(vault, next, stored.userId, server.id),
    version: randomUUID(),
    refreshInSeconds: refreshInSeconds(tokens),
  });
  // The user has authorized again, or forgotten the authorization.
  if (!isStored) revokeLater(context, server.id, [next]);
}

/** Retries while the database is unavailable: only this node has the new tokens, and the former ones are used up. */
async function keepTokens(sql: Sql, key: Key, giveUpAt: number, former: string, tokens: NewTokens): Promise<boolean> {
  for (;;) {
    try {
      if (await replaceTokens(sql, key, former, tokens)) return true;
      // An earlier try may have taken effect without an answer.
      return (await selectGrant(sql, key))?.version === tokens.version;
    } catch (error) {
      if (!isUnavailable(error) || performance.now() > giveUpAt) throw error;
      await sleep(pauseMs);
    }
  }
}

/** The user must authorize again. Tokens that were replaced meanwhile stay. */
export async function endAccess(
  context: ToolServersContext,
  server: Pick<ToolServer, "id">,
  { userId, version: former }: Pick<StoredGrant, "userId" | "version">,
  lastError: string,
): Promise<void> {
  const { database, log } = context;
  const isEnded = await endGrant(
    database.sql,
    { serverId: server.id, userId },
    { former, version: randomUUID(), lastError },
  );
  if (!isEnded) return;
  // The client may have been deleted at the authorization server.
  await deleteClients(database.sql, server.id);
  log.info({ user_id: userId, server_id: server.id }, "authorization of a tool server ended");
}

/** Leaves a fifth of the lifetime, at most a minute, to calls that use the token. */
export function refreshInSeconds({ expiresInSeconds: lasts }: OAuthTokens): number | null {
  return lasts === undefined ? null : lasts - Math.min(60, lasts / 5);
}
