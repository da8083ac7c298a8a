import type { AgentAuthorization } from "@gantry/wire";
import { OAuthError } from "../../../engines/tools/oauth/oauth.ts";
import { ToolServerError } from "../../../engines/tools/tools.ts";
import { fault } from "../../../kernel/errors.ts";
import type { ToolServersContext } from "../context.ts";
import { recordAccount } from "../record-server.ts";
import { updateStatus } from "../store.ts";
import type { ToolServer } from "../tool-server.ts";
import { failedConnection, findServer, findServerOrThrow, findServers, serverNotFound } from "../use-server.ts";
import { deleteGrant, selectAuthorized } from "./grant-store.ts";
import { type AuthorizationLink, linkFor } from "./links.ts";
import { asServerError } from "./registrations.ts";
import { openGrants, revokeLater } from "./revoke.ts";

/** Enough to sign in. */
const newLinkSeconds = 300;

/** A link for the owner of the server. */
export async function authorizeServer(
  context: ToolServersContext,
  ownerId: string,
  id: string,
  baseUrl: string,
): Promise<AuthorizationLink> {
  const server = await findServerOrThrow(context, ownerId, id);
  if (server.authType !== "oauth") {
    throw fault("conflict", `${server.name} does not use OAuth. Change its auth to {type: oauth} first.`, {
      loc: ["path", "mcp_server_id"],
    });
  }
  const link = await linkFor(context, server, { userId: ownerId, baseUrl, leastSeconds: newLinkSeconds }).catch(
    (error: unknown) => {
      if (!(error instanceof OAuthError)) throw error;
      throw fault("downstream_service_error", `${server.name}: ${error.message}`, {
        loc: ["path", "mcp_server_id"],
        logged: "authorization of a tool server could not start",
        retryable: error.reason === "unavailable",
      });
    },
  );
  if (!link) throw fault("conflict", "Another request is changing this tool server. Try again.");
  return link;
}

/** The link that a record shows: only while the owner must authorize. A failure becomes the status. */
export async function linkOfRecord(
  context: ToolServersContext,
  server: ToolServer,
  { baseUrl, isOffline }: { baseUrl: string; isOffline: boolean },
): Promise<{ server: ToolServer; url: string | undefined }> {
  if (server.authType !== "oauth" || server.status !== "authorization_required") return { server, url: undefined };
  try {
    const link = await linkFor(context, server, { userId: server.ownerId, baseUrl, isOffline });
    return { server, url: link?.url };
  } catch (error) {
    const failure = asServerError(error);
    if (!(failure instanceof ToolServerError)) throw error;
    const result = failedConnection(failure);
    await updateStatus(context.database.sql, server, result);
    return { server: { ...server, ...result }, url: undefined };
  }
}

/** Deletes the tokens of the user, who need not own the server. */
export async function forgetAuthorization(context: ToolServersContext, userId: string, id: string): Promise<void> {
  const { database, log } = context;
  const own = await findServer(context, userId, id);
  const forgotten = await database.transaction(async (tx) => {
    const grant = await deleteGrant(tx, { serverId: id, userId });
    if (grant) await recordAccount(tx, "tool_server.forget", userId, { id, name: own?.name });
    return grant;
  });
  if (!forgotten) {
    if (!own) throw serverNotFound();
    throw fault("not_found", "You have not authorized this tool server", { loc: ["path", "mcp_server_id"] });
  }
  revokeLater(context, id, openGrants(context, id, [forgotten]));
  if (own) await updateStatus(database.sql, own, { status: "authorization_required", lastError: null });
  log.info({ user_id: userId, server_id: id }, "authorization of a tool server forgotten");
}

/** What a caller must authorize, for servers that may belong to others. */
export async function listAuthorizations(
  context: ToolServersContext,
  userId: string,
  servers: readonly { ownerId: string; id: string }[],
  /** Undefined: the caller may not authorize and gets no links. */
  baseUrl: string | undefined,
): Promise<AgentAuthorization[]> {
  const owners = Map.groupBy(servers, ({ ownerId }) => ownerId);
  const found = await Promise.all(
    Array.from(owners, ([ownerId, some]) =>
      findServers(
        context,
        ownerId,
        some.map(({ id }) => id),
      ),
    ),
  );
  const withOAuth = found.flat().filter(({ authType }) => authType === "oauth");
  const ids = withOAuth.map(({ id }) => id);
  const authorized = await selectAuthorized(context.database.sql, userId, ids);
  return Promise.all(
    withOAuth.map(async (server) => {
      const { id: server_id, name: server_name, url } = server;
      const record = { server_id, server_name, host: new URL(url).host };
      if (authorized.has(server_id)) return { ...record, status: "authorized" as const };
      const link = baseUrl === undefined ? {} : await linkOrError(context, server, userId, baseUrl);
      return { ...record, status: "authorization_required" as const, ...link };
    }),
  );
}

async function linkOrError(
  context: ToolServersContext,
  server: ToolServer,
  userId: string,
  baseUrl: string,
): Promise<Pick<AgentAuthorization, "authorization_url" | "last_error">> {
  try {
    const link = await linkFor(context, server, { userId, baseUrl });
    return link ? { authorization_url: link.url } : {};
  } catch (error) {
    if (error instanceof OAuthError) return { last_error: error.message };
    throw error;
  }
}
