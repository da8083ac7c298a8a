import { isId, type ToolServerAuth } from "@gantry/wire";
import { ToolServerError, type ToolServerFailure, type ToolServerTarget } from "../../engines/tools/tools.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { ToolServersContext } from "./context.ts";
import { type Hiding, hiding, nothingHidden } from "./hide.rules.ts";
import { type Access, accessOf, authorizationRequired, endAccess, refreshedAccess } from "./oauth/access-tokens.ts";
import { selectToolServer, selectToolServersAmong, updateStatus } from "./store.ts";
import type { ConnectionResult, SealedToolServer } from "./tool-server.ts";

type Work<T> = (target: ToolServerTarget, hiding: Hiding) => Promise<T>;

const longestMessage = 400;

export const connected: ConnectionResult = { status: "connected", lastError: null };

export function failedConnection({ reason, message }: ToolServerError): ConnectionResult {
  const status = reason === "unauthorized" || reason === "authorization_required" ? reason : "unreachable";
  // PostgreSQL stores neither NUL nor lone surrogates.
  return { status, lastError: message.replaceAll("\0", "").toWellFormed() };
}

/** A failure for the log, without text from the server: the text may contain the credential. */
export function withoutServerText({ reason, status }: ToolServerError): Error {
  return Object.assign(new Error("The tool server failed"), { code: reason, ...(status !== undefined && { status }) });
}

/** Calls a server for a user. The user may see the message of a failure: credentials are masked in it. */
export async function callServer<T>(
  context: ToolServersContext,
  server: Callable,
  userId: string,
  work: Work<T>,
): Promise<T> {
  if (server.authType !== "oauth") return callOpened(openServer(context, server), work);
  const access = await accessOf(context, server, userId);
  try {
    return await callOpened(withAccess(server, userId, access), work);
  } catch (error) {
    if (!isRefusedToken(error)) throw error;
  }
  const fresh = await refreshedAccess(context, server, userId, access.version);
  try {
    return await callOpened(withAccess(server, userId, fresh), work);
  } catch (error) {
    if (!isRefusedToken(error)) throw error;
    const refused = "The server refuses a new token";
    await endAccess(context, server, { userId, version: fresh.version }, refused);
    throw authorizationRequired(refused);
  }
}

/** The server has not read the request. */
function isRefusedToken(error: unknown): boolean {
  return error instanceof ToolServerError && error.status === 401;
}

function withAccess(
  { id, revision, url, connectionType }: Callable,
  user: string,
  { token, grantId }: Access,
): OpenedServer {
  const header = { name: "authorization", value: `Bearer ${token}` };
  return {
    target: { id, user, revision: `${revision} ${grantId}`, url, connectionType, header },
    hiding: hiding(token),
  };
}

async function callOpened<T>({ target, hiding }: OpenedServer, work: Work<T>): Promise<T> {
  try {
    return await work(target, hiding);
  } catch (error) {
    if (!(error instanceof ToolServerError)) throw error;
    const { reason, message, outcome, status } = error;
    throw new ToolServerError(reason, truncate(hiding.mask(message)), {
      outcome,
      ...(status !== undefined && { status }),
    });
  }
}

function truncate(message: string): string {
  return message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message;
}

/** Calls a registered server and stores its status if the status changed. */
export async function useServer<T>(
  context: ToolServersContext,
  server: SealedToolServer,
  userId: string,
  work: Work<T>,
): Promise<T> {
  const storeStatus = async (result: ConnectionResult) => {
    // The authorization of another user says nothing about the owner's.
    if (server.authType === "oauth" && userId !== server.ownerId) return;
    try {
      if (!(await updateStatus(context.database.sql, server, result))) return;
      context.log.info({ server_id: server.id, status: result.status }, "tool server status changed");
    } catch (error) {
      // The result of the call matters more than the stored status.
      context.log.warn({ server_id: server.id, err: error }, "could not store the status of a tool server");
    }
  };
  try {
    const result = await callServer(context, server, userId, work);
    await storeStatus(connected);
    return result;
  } catch (error) {
    if (error instanceof ToolServerError && saysAboutServer(error)) await storeStatus(failedConnection(error));
    throw error;
  }
}

const localReasons: ReadonlySet<ToolServerFailure> = new Set(["busy", "refused"]);
/** These concern one answer once the tool was called; before the call they concern the server. */
const answerReasons: ReadonlySet<ToolServerFailure> = new Set(["timeout", "too_large"]);

/** Whether the failure shows that the server cannot be used: a full local queue or a slow tool does not. */
function saysAboutServer({ reason, outcome }: ToolServerError): boolean {
  return !localReasons.has(reason) && !(answerReasons.has(reason) && outcome === "unknown");
}

type SealedFor = Pick<SealedToolServer, "id" | "ownerId" | "url">;
type SealedAuth = Pick<SealedToolServer, "authType" | "authHeader" | "sealedCredential">;

/** Contains the host, so a credential cannot be opened for another host. `changedAuth` checks the port. */
const sealContext = ({ ownerId, id, url }: SealedFor) => `tool-server:${ownerId}:${id}:${new URL(url).hostname}`;

export function sealAuth(
  { vault }: ToolServersContext,
  server: SealedFor,
  auth: ToolServerAuth | null | undefined,
): SealedAuth {
  if (!auth) return { authType: null, authHeader: null, sealedCredential: null };
  if (auth.type === "oauth") return { authType: "oauth", authHeader: null, sealedCredential: null };
  const credential = auth.type === "bearer" ? auth.token : auth.value;
  return {
    authType: auth.type,
    authHeader: auth.type === "api_key" ? auth.header : null,
    sealedCredential: vault.seal(credential, sealContext(server)),
  };
}

/** The fields of a server that a call needs. */
export type Callable = Omit<SealedToolServer, "oauth" | "status" | "lastError" | "createdAt" | "updatedAt">;

interface OpenedServer {
  target: ToolServerTarget;
  /** For text from the server: a server may repeat the credential. */
  hiding: Hiding;
}

export function openServer({ vault }: ToolServersContext, server: Callable): OpenedServer {
  const { id, revision, url, connectionType, sealedCredential, authHeader } = server;
  const bare = { id, revision, url, connectionType };
  if (!sealedCredential) return { target: bare, hiding: nothingHidden };
  const credential = unseal(() => vault.open(sealedCredential, sealContext(server)));
  const header =
    authHeader === null
      ? { name: "authorization", value: `Bearer ${credential}` }
      : { name: authHeader, value: credential };
  return { target: { ...bare, header }, hiding: hiding(credential) };
}

function unseal(open: () => string): string {
  try {
    return open();
  } catch {
    throw new ToolServerError("unauthorized", "The stored credentials cannot be decrypted. Enter them again.");
  }
}

export function serverNotFound(): Fault {
  return fault("not_found", "Tool server not found", { loc: ["path", "mcp_server_id"] });
}

export async function findServer(
  { database }: ToolServersContext,
  ownerId: string,
  id: string,
): Promise<SealedToolServer | undefined> {
  return isId("mcpServer", id) ? selectToolServer(database.sql, ownerId, id) : undefined;
}

export async function findServers(
  { database }: ToolServersContext,
  ownerId: string,
  ids: readonly string[],
): Promise<SealedToolServer[]> {
  return selectToolServersAmong(
    database.sql,
    ownerId,
    ids.filter((id) => isId("mcpServer", id)),
  );
}

export async function findServerOrThrow(
  context: ToolServersContext,
  ownerId: string,
  id: string,
): Promise<SealedToolServer> {
  const found = await findServer(context, ownerId, id);
  if (!found) throw serverNotFound();
  return found;
}
