import { type CreateToolServerBody, newId } from "@gantry/wire";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { ToolServersContext } from "./context.ts";
import { sealAuth } from "./credential.ts";
import { insertToolServer, isNameTaken } from "./store.ts";
import type { ToolServer } from "./tool-server.ts";
import { tryServer } from "./try-server.ts";

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
