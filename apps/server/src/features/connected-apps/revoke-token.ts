import { deleteAccessToken, endKey, sameHash } from "../accounts/index.ts";
import { only } from "./authorization-request.ts";
import type { ConnectedAppsContext } from "./context.ts";
import { refusal } from "./oauth-refusal.ts";
import { hashOfToken, readRefreshToken } from "./refresh-token.rules.ts";
import { type Client, lockConnection } from "./store.ts";

/**
 * A refresh token ends the whole connection, an access token only itself. As RFC 7009 wants it, a token that does not
 * exist, or belongs to another app, is not an error.
 */
export async function revokeToken(context: ConnectedAppsContext, client: Client, form: URLSearchParams): Promise<void> {
  const token = only(form, "token");
  if (token === undefined) throw refusal("invalid_request", "token must be given once");
  const { database, accounts, clock } = context;
  const refreshToken = readRefreshToken(token);
  const userId = refreshToken
    ? await database.transaction(async (tx) => {
        const connection = await lockConnection(tx, refreshToken.public);
        const isOwn =
          connection?.clientId === client.id &&
          connection.familyHash !== null &&
          sameHash(connection.familyHash, hashOfToken(refreshToken.family));
        if (!connection || !isOwn) return undefined;
        await endKey(tx, { id: connection.keyId, userId: connection.userId }, clock.now());
        return connection.userId;
      })
    : await deleteAccessToken(database.sql, token, client.id);
  if (userId !== undefined) accounts.forgetUser(userId);
}
