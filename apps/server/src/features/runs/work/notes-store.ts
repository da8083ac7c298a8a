import type { Sql } from "../../../engines/database/database.ts";

export async function findNotes(sql: Sql, runId: string): Promise<string | null> {
  const [row] = await sql<{ memory: string | null }[]>`select memory from runs where id = ${runId}`;
  return row?.memory ?? null;
}

/** Returns the notes of the first call. */
export async function keepNotes(sql: Sql, runId: string, notes: string): Promise<string> {
  const [row] = await sql<{ memory: string }[]>`
    update runs set memory = coalesce(memory, ${notes}) where id = ${runId} returning memory`;
  return row?.memory ?? notes;
}
