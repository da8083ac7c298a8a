import { isId } from "@gantry/wire";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { ToolServersContext } from "./context.ts";
import { selectToolServer, selectToolServersAmong } from "./store.ts";
import type { SealedToolServer } from "./tool-server.ts";

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
