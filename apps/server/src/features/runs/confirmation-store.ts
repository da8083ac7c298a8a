import type { Sql } from "../../engines/database/database.ts";
import type { Run } from "./run.ts";

export interface Confirmation {
  id: string;
  runId: string;
  tool: string;
  arguments: Record<string, unknown>;
  details: Record<string, unknown> | null;
  status: "pending" | "approved" | "denied" | "expired";
  reason: string | null;
  createdAt: Date;
  expiresAt: Date;
  resolvedAt: Date | null;
}

/** Of a run and of all under it, oldest first. */
export async function listConfirmations(sql: Sql, run: Pick<Run, "id" | "ancestors">): Promise<Confirmation[]> {
  return sql<Confirmation[]>`
    select q.id, q.run_id as "runId", q.tool, q.arguments, q.details, q.status, q.reason, q.created_at as "createdAt",
      q.expires_at as "expiresAt", q.resolved_at as "resolvedAt"
    from run_confirmations q join runs r on r.id = q.run_id
    where q.root_id = ${run.ancestors[0] ?? run.id} and (r.id = ${run.id} or ${run.id} = any (r.ancestors))
    order by q.created_at, q.id`;
}

export async function resolveConfirmation(
  sql: Sql,
  id: string,
  answer: "approved" | "denied" | "expired",
  reason: string | null,
): Promise<boolean> {
  const [row] = await sql<{ done: unknown }[]>`select resolve_confirmation(${id}, ${answer}, ${reason}) as done`;
  return row?.done != null;
}

export async function listExpired(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from run_confirmations where status = 'pending' and expires_at < now() order by expires_at limit ${limit}`;
  return rows.map((row) => row.id);
}

// Secrets.

/** Takes it out: nobody gets it a second time. */
export async function takeSecret(
  sql: Sql,
  rootId: string,
  id: string,
): Promise<{ field: string; sealed: Uint8Array } | undefined> {
  const [row] = await sql<{ field: string; sealed: Uint8Array }[]>`
    delete from run_secrets where id = ${id} and run_id = ${rootId} and expires_at > now() returning field, sealed`;
  return row;
}

export async function dropExpiredSecrets(sql: Sql): Promise<void> {
  await sql`delete from run_secrets where expires_at < now()`;
}
