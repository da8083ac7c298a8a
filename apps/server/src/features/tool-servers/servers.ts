import { type ChangeToolServerBody, type CreateToolServerBody, newId } from "@gantry/wire";
import { ToolServerError } from "../../engines/tools/tools.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { ToolServersContext } from "./context.ts";
import { shownTools } from "./list-tools.ts";
import { deleteToolServer, insertToolServer, isNameTaken, updateToolServer } from "./store.ts";
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
  const result = await testConnection(context, { ...values, revision: 1 });
  const created = await insertToolServer(context.database.sql, { ...values, ...result });
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
    const values = { id, ownerId, name, url, connectionType, ...changedAuth(context, former, url, change.auth) };
    const result = await testConnection(context, { ...values, revision: former.revision + 1 });
    const changed = await updateToolServer(context.database.sql, { ...values, ...result }, former.revision);
    // Undefined: another request changed the server first. Apply this change to the new state.
    if (!changed) continue;
    context.clients.forget(id);
    context.log.info({ user_id: ownerId, server_id: id, status: result.status }, "tool server changed");
    return changed;
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
  // Otherwise a change of the address could send the stored credential to another server.
  if (!keepsOrigin(former.url, url)) {
    const msg =
      "The new address has another host, port or scheme. Enter auth again, or set it to null to send no credentials.";
    throw fault("missing", msg, { loc: ["body", "auth"] });
  }
  return { authType: former.authType, authHeader: former.authHeader, sealedCredential: former.sealedCredential };
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
  const { name } = await findServerOrThrow(context, ownerId, id);
  const agents = force ? [] : await context.agentsUsingToolServer(ownerId, id);
  if (agents.length > 0) {
    const names = agents.map((agent) => agent.name).join(", ");
    throw fault("conflict", `${name} is used by ${names}. Change these agents first, or delete with ?force=true.`, {
      loc: ["path", "mcp_server_id"],
      ctx: { agents: agents.map((agent) => ({ id: agent.id, name: agent.name })) },
    });
  }
  if (!(await deleteToolServer(context.database.sql, ownerId, id))) throw serverNotFound();
  context.clients.forget(id);
  context.log.info({ user_id: ownerId, server_id: id }, "tool server removed");
}

/** The client waits for its response meanwhile. */
const testTimeoutMs = 20_000;

/** Connects and lists the tools. A server that does not answer is still registered; a private address is refused. */
async function testConnection(context: ToolServersContext, server: Callable): Promise<ConnectionResult> {
  // A separate connection: another change may be testing other credentials.
  const id = newId("request");
  const signal = AbortSignal.timeout(testTimeoutMs);
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
    return failedConnection(error);
  } finally {
    context.clients.forget(id);
  }
}
