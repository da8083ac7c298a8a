import { createHash, randomBytes } from "node:crypto";
import type { ToolServersContext } from "../context.ts";
import type { ToolServer } from "../tool-server.ts";
import { selectFlow, storeFlow } from "./oauth-store.ts";
import { findRegistration, knownRegistration } from "./registrations.ts";
import { type Flow, type Registration, sealedFlow } from "./sealed.ts";

export interface AuthorizationLink {
  url: string;
  expiresAt: Date;
}

/** Where browsers return to. */
const callbackPath = "/hooks/oauth/callback";

export const hashOfState = (state: string) => createHash("sha256").update(state).digest("hex");

interface LinkWanted {
  userId: string;
  baseUrl: string;
  /** A link that ends earlier is replaced, and a browser that has opened it must start again. */
  leastSeconds?: number;
  /** Use only what is stored. */
  isOffline?: boolean;
}

/**
 * The link with which a user authorizes a server. A link that lasts long enough is given out again. Undefined if the server
 * changed meanwhile, or if nothing is known about it and it must not be asked.
 */
export async function linkFor(
  context: ToolServersContext,
  server: ToolServer,
  { userId, baseUrl, leastSeconds = 30, isOffline = false }: LinkWanted,
): Promise<AuthorizationLink | undefined> {
  const { database, vault } = context;
  const redirectUri = baseUrl + callbackPath;
  const pending = await selectFlow(database.sql, { serverId: server.id, userId }, leastSeconds);
  const flow = pending && sealedFlow.open(vault, pending.sealed, userId, server.id);
  if (flow && pending.redirectUri === redirectUri && flow.revision === server.revision) {
    return { url: urlOf(context, flow, redirectUri), expiresAt: pending.expiresAt };
  }
  const known = await knownRegistration(context, server, redirectUri);
  if (!known && isOffline) return undefined;
  return newLink(
    context,
    server,
    { userId, redirectUri },
    known ?? (await findRegistration(context, server, redirectUri)),
  );
}

async function newLink(
  context: ToolServersContext,
  server: ToolServer,
  { userId, redirectUri }: { userId: string; redirectUri: string },
  registration: Registration,
): Promise<AuthorizationLink | undefined> {
  const flow: Flow = {
    ...registration,
    state: randomBytes(32).toString("base64url"),
    verifier: randomBytes(48).toString("base64url"),
    revision: server.revision,
  };
  const expiresAt = await storeFlow(context.database.sql, server, {
    userId,
    stateHash: hashOfState(flow.state),
    redirectUri,
    sealed: sealedFlow.seal(context.vault, flow, userId, server.id),
  });
  return expiresAt && { url: urlOf(context, flow, redirectUri), expiresAt };
}

function urlOf({ oauth }: ToolServersContext, { server, client, ...flow }: Flow, redirectUri: string): string {
  return oauth.authorizationUrl(server, client, { ...flow, redirectUri });
}
