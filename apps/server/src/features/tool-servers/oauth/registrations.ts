import { OAuthError } from "../../../engines/tools/oauth/oauth.ts";
import { ToolServerError, type ToolServerFailure } from "../../../engines/tools/tools.ts";
import type { ToolServersContext } from "../context.ts";
import type { ToolServer } from "../tool-server.ts";
import { type GivenClient, keepIssuer, selectClient, selectGivenClient, storeClient } from "./oauth-store.ts";
import { type Registration, sealedClient, sealedSecret } from "./sealed.ts";

type Place = Pick<ToolServer, "id" | "revision" | "url" | "connectionType">;

/** The stored registration, if its endpoints are recent. */
export async function knownRegistration(
  { database, vault }: ToolServersContext,
  server: Place,
  redirectUri: string,
): Promise<Registration | undefined> {
  const stored = await selectClient(database.sql, server.id, redirectUri);
  const known = stored?.isFresh ? sealedClient.open(vault, stored.sealed, server.id, redirectUri) : undefined;
  return known && isValid(known) ? known : undefined;
}

/** Asks the server how to authorize, and registers a client where none was given. */
export async function findRegistration(
  context: ToolServersContext,
  server: Place,
  redirectUri: string,
): Promise<Registration> {
  const { database, vault, oauth } = context;
  const { sql } = database;
  const given = await selectGivenClient(sql, server.id);
  const found = await oauth.discover(server);
  await refuseOtherIssuer(context, server, given, found.issuer);
  const scope = given?.scope ?? askedScope(found);
  const stored = await selectClient(sql, server.id, redirectUri);
  const former = stored && sealedClient.open(vault, stored.sealed, server.id, redirectUri);
  const isSame = former !== undefined && former.server.issuer === found.issuer && isValid(former);
  const client = given?.clientId
    ? { id: given.clientId, secret: secretOf(context, server.id, given) }
    : isSame
      ? former.client
      : await oauth.register(found, { redirectUri, scope });
  const registration: Registration = { server: found, client, scope };
  const sealed = sealedClient.seal(vault, registration, server.id, redirectUri);
  await storeClient(sql, server, redirectUri, sealed);
  return registration;
}

/** A tool server that names another authorization server later must not receive the secret of the client there. */
async function refuseOtherIssuer(
  { database }: ToolServersContext,
  { id }: Place,
  given: GivenClient | undefined,
  issuer: string,
): Promise<void> {
  if (!given?.clientId) return;
  const first = await keepIssuer(database.sql, id, issuer);
  if (first === undefined || first === issuer) return;
  throw new OAuthError(
    "protocol",
    `The tool server names the authorization server ${issuer}, before it was ${first}. Enter auth again to accept it`,
  );
}

function secretOf({ vault }: ToolServersContext, serverId: string, given: GivenClient): string | undefined {
  if (given.sealedSecret === null) return undefined;
  const secret = sealedSecret.open(vault, given.sealedSecret, serverId);
  if (secret !== undefined) return secret;
  throw new OAuthError("protocol", "The stored client_secret cannot be decrypted. Enter auth again");
}

function askedScope({ scope, hasOfflineAccess }: Registration["server"]): string | undefined {
  const scopes = new Set([...(scope?.split(" ") ?? []), ...(hasOfflineAccess ? ["offline_access"] : [])]);
  return scopes.size > 0 ? [...scopes].join(" ") : undefined;
}

function isValid({ client: { secretExpiresAt } }: Registration): boolean {
  return secretExpiresAt === undefined || secretExpiresAt * 1000 > Date.now() + 60_000;
}

const reasons: Record<OAuthError["reason"], ToolServerFailure> = {
  address_refused: "address_refused",
  unavailable: "unreachable",
  refused: "authorization_required",
  protocol: "unauthorized",
};

/** Failures of OAuth are failures of the server: they become its status. */
export function asServerError(error: unknown): unknown {
  return error instanceof OAuthError ? new ToolServerError(reasons[error.reason], error.message) : error;
}
