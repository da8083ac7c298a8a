import type { Sql, Transaction } from "../../engines/database/database.ts";
import type { ConnectionResult, SealedToolServer } from "./tool-server.ts";

export type ToolServerValues = Omit<SealedToolServer, "oauth" | "revision" | "createdAt" | "updatedAt">;

function columns(sql: Sql) {
  return sql`
    id, owner_id as "ownerId", name, url, connection_type as "connectionType", auth_type as "authType",
    auth_header as "authHeader", sealed_credential as "sealedCredential", status, last_error as "lastError", revision,
    created_at as "createdAt", updated_at as "updatedAt",
    (select jsonb_build_object('clientId', client_id, 'scope', scope)
      from tool_server_oauth o where o.server_id = tool_servers.id) as oauth`;
}

export async function isNameTaken(sql: Sql, ownerId: string, name: string, exceptId: string): Promise<boolean> {
  const rows = await sql`
    select from tool_servers where owner_id = ${ownerId} and name = ${name} and id <> ${exceptId}`;
  return rows.length > 0;
}

/** Undefined if the owner has another server with this name. */
export async function insertToolServer(sql: Sql, row: ToolServerValues): Promise<SealedToolServer | undefined> {
  const [created] = await sql<SealedToolServer[]>`
    insert into tool_servers (id, owner_id, name, url, connection_type, auth_type, auth_header, sealed_credential,
      status, last_error)
    values (${row.id}, ${row.ownerId}, ${row.name}, ${row.url}, ${row.connectionType}, ${row.authType},
      ${row.authHeader}, ${row.sealedCredential as Buffer | null}, ${row.status}, ${row.lastError})
    on conflict (owner_id, name) do nothing
    returning ${columns(sql)}`;
  return created;
}

const uniqueViolation = "23505";

/** Undefined if the row changed, was deleted, or another server took the name: read the row again and retry. */
export async function updateToolServer(
  tx: Transaction,
  row: ToolServerValues,
  formerRevision: number,
): Promise<SealedToolServer | undefined> {
  try {
    return await tx.savepoint(async (sql) => {
      const [changed] = await sql<SealedToolServer[]>`
        update tool_servers set name = ${row.name}, url = ${row.url}, connection_type = ${row.connectionType},
          auth_type = ${row.authType}, auth_header = ${row.authHeader},
          sealed_credential = ${row.sealedCredential as Buffer | null}, status = ${row.status},
          last_error = ${row.lastError}, revision = revision + 1, updated_at = now()
        where id = ${row.id} and owner_id = ${row.ownerId} and revision = ${formerRevision}
        returning ${columns(sql)}`;
      return changed;
    });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === uniqueViolation) return undefined;
    throw error;
  }
}

/** Returns whether the status changed. A result of an older revision is ignored. */
export async function updateStatus(
  sql: Sql,
  server: { id: string; revision: number },
  { status, lastError }: ConnectionResult,
): Promise<boolean> {
  const { count } = await sql`
    update tool_servers set status = ${status}, last_error = ${lastError}
    where id = ${server.id} and revision = ${server.revision}
      and (status, last_error) is distinct from (${status}, ${lastError}::text)`;
  return count > 0;
}

export async function selectToolServer(sql: Sql, ownerId: string, id: string): Promise<SealedToolServer | undefined> {
  const [row] = await sql<SealedToolServer[]>`
    select ${columns(sql)} from tool_servers where id = ${id} and owner_id = ${ownerId}`;
  return row;
}

/** Without the owner: only for a state that a user got for this server. */
export async function selectServerById(sql: Sql, id: string): Promise<SealedToolServer | undefined> {
  const [row] = await sql<SealedToolServer[]>`select ${columns(sql)} from tool_servers where id = ${id}`;
  return row;
}

export async function selectToolServersAmong(
  sql: Sql,
  ownerId: string,
  ids: readonly string[],
): Promise<SealedToolServer[]> {
  return sql<SealedToolServer[]>`
    select ${columns(sql)} from tool_servers where id = any(${[...ids]}::text[]) and owner_id = ${ownerId}`;
}

export async function selectToolServers(
  sql: Sql,
  ownerId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ servers: SealedToolServer[]; total: number }> {
  const [servers, [count]] = await Promise.all([
    sql<SealedToolServer[]>`
      select ${columns(sql)} from tool_servers where owner_id = ${ownerId}
      order by created_at desc, id desc limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total from tool_servers where owner_id = ${ownerId}`,
  ]);
  return { servers, total: count?.total ?? 0 };
}

export async function deleteToolServer(sql: Sql, ownerId: string, id: string): Promise<boolean> {
  const rows = await sql`delete from tool_servers where id = ${id} and owner_id = ${ownerId} returning 1`;
  return rows.length > 0;
}
