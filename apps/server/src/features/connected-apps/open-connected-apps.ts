import { isId } from "@gantry/wire";
import { withContext } from "../../kernel/with-context.ts";
import { sameHash } from "../accounts/index.ts";
import { approve, deny, suggestNames } from "./approve.ts";
import { readAuthorization } from "./authorization-request.ts";
import type { ConnectedAppsContext } from "./context.ts";
import { refusal } from "./oauth-refusal.ts";
import { hashOfToken } from "./refresh-token.rules.ts";
import { registerClient } from "./register-client.ts";
import { createRegistrationLimit } from "./registration-limit.ts";
import { revokeToken } from "./revoke-token.ts";
import { type Client, findClient } from "./store.ts";
import { issueTokens } from "./tokens.ts";

export type ConnectedApps = ReturnType<typeof openConnectedApps>;

/**
 * The authorization server of /mcp (OAuth 2.1). An app registers itself, a user approves it in the console, and the app
 * exchanges its code for tokens of a key that is confined to the chosen models and agents.
 */
export function openConnectedApps(given: ConnectedAppsContext) {
  const context = { ...given, registrations: createRegistrationLimit() };
  return {
    ...withContext(context, {
      approve,
      findProvenClient,
      issueTokens,
      readAuthorization,
      registerClient,
      revokeToken,
      suggestNames,
    }),
    deny,
  };
}

/** The client that sends a request, if its secret is right. */
async function findProvenClient(
  { database }: ConnectedAppsContext,
  presented: { id: string | undefined; secret: string | undefined },
): Promise<Client> {
  const { id, secret } = presented;
  const client = id !== undefined && isId("oauthClient", id) ? await findClient(database.sql, id) : undefined;
  const isProven = client && (client.secretHash === null || sameHash(client.secretHash, hashOfToken(secret ?? "")));
  if (!isProven) throw refusal("invalid_client", "Unknown client, or a wrong client secret. Register the app again.");
  return client;
}
