import { isId, type ToolServerAuth } from "@gantry/wire";
import { ToolServerError, type ToolServerFailure, type ToolServerTarget } from "../../engines/tools/tools.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { ToolServersContext } from "./context.ts";
import { type Hiding, hiding, nothingHidden } from "./hide.rules.ts";
import { selectToolServer, selectToolServersAmong, updateStatus } from "./store.ts";
import type { Met, SealedToolServer } from "./tool-server.ts";

type Work<T> = (target: ToolServerTarget, hiding: Hiding) => Promise<T>;

const longestMessage = 400;

export const connected: Met = { status: "connected", lastError: null };

export function metWith({ reason, message }: ToolServerError): Met {
  const status = reason === "unauthorized" ? "unauthorized" : "unreachable";
  // PostgreSQL has no place for NUL and for halves of characters.
  return { status, lastError: message.replaceAll("\0", "").toWellFormed() };
}

/** What is left of a failure for the log, which has no place for a server's own words. */
export function withoutWords({ reason, status }: ToolServerError): Error {
  return Object.assign(new Error("The tool server failed"), { code: reason, ...(status !== undefined && { status }) });
}

/** Calls a server. What it fails with can be shown to its owner: the credential is hidden in it. It may quote the server. */
export async function callServer<T>(context: ToolServersContext, server: Callable, work: Work<T>): Promise<T> {
  const { target, hiding } = openServer(context, server);
  try {
    return await work(target, hiding);
  } catch (error) {
    if (!(error instanceof ToolServerError)) throw error;
    const { reason, message, outcome, status } = error;
    throw new ToolServerError(reason, short(hiding.mask(message)), {
      outcome,
      ...(status !== undefined && { status }),
    });
  }
}

function short(message: string): string {
  return message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message;
}

/** The same for a registered server, with what it met stored where it is news. */
export async function useServer<T>(context: ToolServersContext, server: SealedToolServer, work: Work<T>): Promise<T> {
  const note = async (met: Met) => {
    try {
      // Not by what was read before: another call may have met something else meanwhile.
      if (!(await updateStatus(context.database.sql, server, met))) return;
      context.log.info({ server_id: server.id, status: met.status }, "tool server changed its status");
    } catch (error) {
      // What the call came to is worth more than the note of it.
      context.log.warn({ server_id: server.id, err: error }, "the status of a tool server could not be stored");
    }
  };
  try {
    const result = await callServer(context, server, work);
    await note(connected);
    return result;
  } catch (error) {
    if (error instanceof ToolServerError && !isPassing(error)) await note(metWith(error));
    throw error;
  }
}

const ofOneUse: ReadonlySet<ToolServerFailure> = new Set(["busy", "refused"]);
/** Of a tool that was called; before that it is the server that is slow, or says too much. */
const ofOneAnswer: ReadonlySet<ToolServerFailure> = new Set(["timeout", "too_large"]);

/** Says nothing about whether the server can be used: a queue on our side, a tool that refuses, is slow or says too much. */
function isPassing({ reason, outcome }: ToolServerError): boolean {
  return ofOneUse.has(reason) || (ofOneAnswer.has(reason) && outcome === "unknown");
}

type Place = Pick<SealedToolServer, "id" | "ownerId" | "url">;
type SealedAuth = Pick<SealedToolServer, "authType" | "authHeader" | "sealedCredential">;

/**
 * The host is part of it: a credential given for one host is never sent to another. That it is not sent to another port
 * either is seen to when the address is changed.
 */
const sealContext = ({ ownerId, id, url }: Place) => `tool-server:${ownerId}:${id}:${new URL(url).hostname}`;

export function sealAuth(
  { vault }: ToolServersContext,
  place: Place,
  auth: ToolServerAuth | null | undefined,
): SealedAuth {
  if (!auth) return { authType: null, authHeader: null, sealedCredential: null };
  const credential = auth.type === "bearer" ? auth.token : auth.value;
  return {
    authType: auth.type,
    authHeader: auth.type === "api_key" ? auth.header : null,
    sealedCredential: vault.seal(credential, sealContext(place)),
  };
}

/** What of a server is needed to call it. */
export type Callable = Omit<SealedToolServer, "authType" | "status" | "lastError" | "createdAt" | "updatedAt">;

export interface Opened {
  target: ToolServerTarget;
  /** For texts that the server had a hand in: a server may repeat what it was sent. */
  hiding: Hiding;
}

/** The server as it is called. */
export function openServer({ vault }: ToolServersContext, server: Callable): Opened {
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
    throw new ToolServerError("unauthorized", "The stored credentials can no longer be opened: give them again");
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
  // A text that is no id names nothing; it also never reaches the database.
  return isId("mcpServer", id) ? selectToolServer(database.sql, ownerId, id) : undefined;
}

/** Those of the servers that the owner has. */
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
