import { type ChangeToolServerBody, type CreateToolServerBody, newId } from "@gantry/wire";
import { ToolServerError } from "../../engines/tools/tools.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { ToolServersContext } from "./context.ts";
import { shownTools } from "./list-tools.ts";
import { deleteToolServer, insertToolServer, isNameTaken, updateToolServer } from "./store.ts";
import type { Met, SealedToolServer, ToolServer } from "./tool-server.ts";
import {
  type Callable,
  callServer,
  connected,
  findServerOrThrow,
  metWith,
  sealAuth,
  serverNotFound,
} from "./use-server.ts";

export function nameTaken(name: string): Fault {
  return fault("conflict", `You have a tool server named ${name} already`, { loc: ["body", "name"] });
}

export async function registerServer(
  context: ToolServersContext,
  ownerId: string,
  { name, url, connection_type: connectionType, auth }: CreateToolServerBody,
): Promise<ToolServer> {
  const id = newId("mcpServer");
  // Told before the server is tried, which may take long; the insertion decides.
  if (await isNameTaken(context.database.sql, ownerId, name, id)) throw nameTaken(name);
  const values = { id, ownerId, name, url, connectionType, ...sealAuth(context, { id, ownerId, url }, auth) };
  const met = await tryServer(context, { ...values, revision: 1 });
  const made = await insertToolServer(context.database.sql, { ...values, ...met });
  if (!made) throw nameTaken(name);
  context.log.info({ user_id: ownerId, server_id: id, status: met.status }, "tool server registered");
  return made;
}

const mostAttempts = 3;

/** Changes the given fields and connects anew with them. */
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
    const values = { id, ownerId, name, url, connectionType, ...changedAuth(context, former, url, change.auth) };
    const met = await tryServer(context, { ...values, revision: former.revision + 1 });
    const changed = await updateToolServer(context.database.sql, { ...values, ...met }, former.revision);
    // Undefined: another change came first, and this one applies to what that one left.
    if (!changed) continue;
    context.clients.forget(id);
    context.log.info({ user_id: ownerId, server_id: id, status: met.status }, "tool server changed");
    return changed;
  }
  throw fault("conflict", "The tool server is being changed by another request; repeat this one");
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
  // Otherwise whoever may change the address could have the credential sent to a server of their own.
  if (!keepsOrigin(former.url, url)) {
    const msg = "The address is on another host or port, or no longer https: give auth again, or null to send none";
    throw fault("missing", msg, { loc: ["body", "auth"] });
  }
  return { authType: former.authType, authHeader: former.authHeader, sealedCredential: former.sealedCredential };
}

/**
 * Whether what may be sent to the one address may be sent to the next. From http to https the usual port changes with it;
 * any other port may be somebody else's.
 */
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
  const { name } = await findServerOrThrow(context, ownerId, id);
  const agents = force ? [] : await context.agentsUsingToolServer(ownerId, id);
  if (agents.length > 0) {
    const names = agents.map((agent) => agent.name).join(", ");
    throw fault("conflict", `${name} is used by ${names}: change these agents first, or delete with ?force=true`, {
      loc: ["path", "mcp_server_id"],
      ctx: { agents: agents.map((agent) => ({ id: agent.id, name: agent.name })) },
    });
  }
  if (!(await deleteToolServer(context.database.sql, ownerId, id))) throw serverNotFound();
  context.clients.forget(id);
  context.log.info({ user_id: ownerId, server_id: id }, "tool server removed");
}

/** Somebody waits for the answer to their request meanwhile. */
const patienceMs = 20_000;

/**
 * Connects and lists the tools, as agents will. A server that cannot be used now is registered nevertheless; one at a
 * private address is not.
 */
export async function tryServer(context: ToolServersContext, server: Callable): Promise<Met> {
  // Not the server's own connection: nothing is decided yet, and another change may be trying other credentials.
  const id = newId("request");
  const signal = AbortSignal.timeout(patienceMs);
  try {
    const list = await callServer(context, server, async (target, hiding) =>
      shownTools(await context.clients.listTools({ ...target, id }, { signal }), target, hiding),
    );
    context.known.note(server, list);
    return connected;
  } catch (error) {
    if (signal.aborted) return { status: "unreachable", lastError: "The server did not answer in time" };
    if (!(error instanceof ToolServerError)) throw error;
    if (error.reason === "address_refused") throw fault("value_error", error.message, { loc: ["body", "url"] });
    return metWith(error);
  } finally {
    context.clients.forget(id);
  }
}
