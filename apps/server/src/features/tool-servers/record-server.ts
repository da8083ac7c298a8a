import type { AuditAction } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { originOf, record } from "../audit/index.ts";
import type { ToolServer } from "./tool-server.ts";

type Recorded = Pick<ToolServer, "id" | "ownerId" | "name" | "url" | "authType">;

export function recordServer(
  tx: Sql,
  action: Extract<AuditAction, `tool_server.${string}`>,
  { before, after, changed }: { before?: Recorded; after?: Recorded; changed?: readonly string[] },
): Promise<void> {
  const server = after ?? before;
  if (!server) throw new Error("a record of no tool server");
  return record(tx, {
    action,
    object: { id: server.id, name: server.name },
    ownerId: server.ownerId,
    before: before && fieldsOf(before),
    after: after && { ...fieldsOf(after), changed },
  });
}

/** An account of a user for a server, which may belong to another user. */
export function recordAccount(
  tx: Sql,
  action: "tool_server.authorize" | "tool_server.forget",
  userId: string,
  { id, name }: { id: string; name?: string | undefined },
): Promise<void> {
  return record(tx, { action, object: { id, name }, ownerId: userId });
}

/** The path of an address may be a credential. */
function fieldsOf({ name, url, authType }: Recorded) {
  return { name, url: originOf(url), auth: authType };
}
