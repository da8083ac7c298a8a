import { type ChangeToolServerBody, type CreateToolServerBody, newId } from "@gantry/wire";
import { ToolServerError } from "../../engines/tools/tools.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { ToolServersContext } from "./context.ts";
import { shownTools } from "./list-tools.ts";
import {
  deleteAuthorizations,
  forgetIssuer,
  type GivenClient,
  replaceGivenClient,
  selectGivenClient,
} from "./oauth/oauth-store.ts";
import { asServerError } from "./oauth/registrations.ts";
import { openGrants, revokeLater } from "./oauth/revoke.ts";
import { sealedSecret } from "./oauth/sealed.ts";
import { recordServer } from "./record-server.ts";
import { deleteToolServer, insertToolServer, isNameTaken, selectToolServer, updateToolServer } from "./store.ts";
import type { ConnectionResult, SealedToolServer, ToolServer } from "./tool-server.ts";
import {
  type Callable,
  callServer,
  connected,
  failedConnection,
  findServerOrThrow,
  sealAuth,
  serverNotFound,
} from "./use-server.ts";

export function nameTaken(name: string): Fault {
  return fault("conflict", `You already have a tool server named ${name}`, { loc: ["body", "name"] });
}

export async function registerServer(
  context: ToolServersContext,
  ownerId: string,
  { name, url, connection_type: connectionType, auth }: CreateToolServerBody,
): Promise<ToolServer> {
  const id = newId("mcpServer");
  // Checked before the slow connection test; the insert decides.
  if (await isNameTaken(context.database.sql, ownerId, name, id)) throw nameTaken(name);
  const values = { id, ownerId, name, url, connectionType, ...sealAuth(context, { id, ownerId, url }, auth) };
  const result = await testConnection(context, { ...values, revision: 1 }, { isNew: true });
  const given = givenClient(context, id, auth);
  const created = await context.database.transaction(async (tx) => {
    if (!(await insertToolServer(tx, { ...values, ...result }))) return undefined;
    await replaceGivenClient(tx, id, given);
    const made = await selectToolServer(tx, ownerId, id);
    await recordServer(tx, "tool_server.create", { after: values });
    return made;
  });
  if (!created) throw nameTaken(name);
  context.log.info({ user_id: ownerId, server_id: id, status: result.status }, "tool server registered");
  return created;
}

const mostAttempts = 3;

/** Changes the given fields and tests the connection with them. */
export async function changeServer(
  context: ToolServersContext,
  ownerId: string,
  id: string,
  change: ChangeToolServerBody,
): Promise<ToolServer> {
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const former = await findServerOrThrow(context, ownerId, id);
    const name = change.name ?? former.name;
    if (await isNameTaken(context.database.sql, ownerId, name, id)) throw nameTaken(name);
    const url = change.url ?? former.url;
    const connectionType = change.connection_type ?? former.connectionType;
    const movesClient = change.auth === undefined && !keepsOrigin(former.url, url);
    if (movesClient) await refuseStoredSecret(context, id);
    const values = { id, ownerId, name, url, connectionType, ...changedAuth(context, former, url, change.auth) };
    const isNew = url !== former.url || change.auth !== undefined;
    const result = await testConnection(context, { ...values, revision: former.revision + 1 }, { isNew });
    const changed = await context.database.transaction(async (tx) => {
      if (!(await updateToolServer(tx, { ...values, ...result }, former.revision))) return undefined;
      const forgotten = isNew ? await deleteAuthorizations(tx, id) : [];
      if (change.auth !== undefined) await replaceGivenClient(tx, id, givenClient(context, id, change.auth));
      if (movesClient) await forgetIssuer(tx, id);
      const server = await selectToolServer(tx, ownerId, id);
      const fields = Object.keys(change).sort();
      await recordServer(tx, "tool_server.update", { before: former, after: values, changed: fields });
      return { server, forgotten };
    });
    // Undefined: another request changed the server first. Apply this change to the new state.
    if (!changed?.server) continue;
    revokeLater(context, id, openGrants(context, id, changed.forgotten));
    context.clients.forget(id);
    context.log.info({ user_id: ownerId, server_id: id, status: result.status }, "tool server changed");
    return changed.server;
  }
  throw fault("conflict", "Another request is changing this tool server. Try again.");
}

function changedAuth(
  context: ToolServersContext,
  former: SealedToolServer,
  url: string,
  auth: ChangeToolServerBody["auth"],
): Pick<SealedToolServer, "authType" | "authHeader" | "sealedCredential"> {
  if (auth !== undefined || former.authType === null) {
    return sealAuth(context, { id: former.id, ownerId: former.ownerId, url }, auth);
  }
  // Otherwise a change of the address could send the stored credential to another server. Tokens of OAuth are deleted then.
  if (former.authType !== "oauth" && !keepsOrigin(former.url, url)) throw otherOrigin();
  return { authType: former.authType, authHeader: former.authHeader, sealedCredential: former.sealedCredential };
}

function otherOrigin(): Fault {
  const msg =
    "The new address has another host, port or scheme. Enter auth again, or set it to null to send no credentials.";
  return fault("missing", msg, { loc: ["body", "auth"] });
}

function givenClient(
  { vault }: ToolServersContext,
  serverId: string,
  auth: CreateToolServerBody["auth"],
): GivenClient | undefined {
  if (auth?.type !== "oauth") return undefined;
  const { client_id: clientId = null, client_secret: secret, scope = null } = auth;
  const sealed = secret === undefined ? null : sealedSecret.seal(vault, secret, serverId);
  return { clientId, scope, sealedSecret: sealed };
}

/** The authorization server of another host must not get it. */
async function refuseStoredSecret({ database }: ToolServersContext, serverId: string): Promise<void> {
  const given = await selectGivenClient(database.sql, serverId);
  if (given && given.sealedSecret !== null) throw otherOrigin();
}

/** Whether the credential may go to the new address: same origin, or https on the default port instead of http. */
export function keepsOrigin(former: string, next: string): boolean {
  const [from, to] = [new URL(former), new URL(next)];
  const isSecured = from.protocol === "http:" && to.protocol === "https:";
  return from.origin === to.origin || (isSecured && from.host === to.hostname && to.port === "");
}

export async function removeServer(
  context: ToolServersContext,
  ownerId: string,
  id: string,
  { force }: { force: boolean },
): Promise<void> {
  const server = await findServerOrThrow(context, ownerId, id);
  const { name } = server;
  const agents = force ? [] : await context.agentsUsingToolServer(ownerId, id);
  if (agents.length > 0) {
    const names = agents.map((agent) => agent.name).join(", ");
    throw fault("conflict", `${name} is used by ${names}. Change these agents first, or delete with ?force=true.`, {
      loc: ["path", "mcp_server_id"],
      ctx: { agents: agents.map((agent) => ({ id: agent.id, name: agent.name })) },
    });
  }
  const forgotten = await context.database.transaction(async (tx) => {
    const all = await deleteAuthorizations(tx, id);
    if (!(await deleteToolServer(tx, ownerId, id))) throw serverNotFound();
    await recordServer(tx, "tool_server.delete", { before: server });
    return all;
  });
  revokeLater(context, id, openGrants(context, id, forgotten));
  context.clients.forget(id);
  context.log.info({ user_id: ownerId, server_id: id }, "tool server removed");
}

/** The client waits for its response meanwhile. */
const testTimeoutMs = 20_000;

/**
 * Connects and lists the tools. A server that does not answer is still registered; a private address is refused. A new
 * server with OAuth is asked how to authorize: the owner has not authorized it yet.
 */
async function testConnection(
  context: ToolServersContext,
  server: Callable,
  { isNew }: { isNew: boolean },
): Promise<ConnectionResult> {
  // A separate connection: another change may be testing other credentials.
  const id = newId("request");
  const signal = AbortSignal.timeout(testTimeoutMs);
  try {
    if (isNew && server.authType === "oauth") {
      await context.oauth.discover(server);
      return { status: "authorization_required", lastError: null };
    }
    const list = await callServer(context, server, server.ownerId, async (target, hiding) =>
      shownTools(await context.clients.listTools({ ...target, id }, { signal }), target, hiding),
    );
    context.known.note(server, list);
    return connected;
  } catch (thrown) {
    const error = asServerError(thrown);
    if (signal.aborted) return { status: "unreachable", lastError: "The server did not answer in time" };
    if (!(error instanceof ToolServerError)) throw error;
    if (error.reason === "address_refused") throw fault("value_error", error.message, { loc: ["body", "url"] });
    return failedConnection(error);
  } finally {
    context.clients.forget(id);
  }
}
