import { fault } from "../../kernel/errors.ts";
import type { ToolServersContext } from "./context.ts";
import { findServerOrThrow, serverNotFound } from "./find-server.ts";
import { deleteToolServer } from "./store.ts";

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
