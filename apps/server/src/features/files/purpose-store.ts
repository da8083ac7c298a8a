import type { Sql } from "../../engines/database/database.ts";
import type { Scope } from "../accounts/index.ts";
import { type FilePurpose, inScope } from "./store.ts";

/** A stored file of the OpenAI protocol. */
export interface PurposeFile {
  id: string;
  key: string;
  purpose: FilePurpose;
  size: number;
  createdAt: Date;
}

const columnsOf = (sql: Sql) => sql`f.id, f.key, f.purpose, f.size, f.created_at as "createdAt"`;

export async function findPurposeFile(sql: Sql, scope: Scope, id: string): Promise<PurposeFile | undefined> {
  const [row] = await sql<PurposeFile[]>`
    select ${columnsOf(sql)} from files f
    where f.id = ${id} and f.state = 'stored' and f.purpose is not null and ${inScope(sql, scope)}`;
  return row;
}

/** Returns the id of the file. */
export async function setPurpose(
  sql: Sql,
  { ownerId, key }: { ownerId: string; key: string },
  purpose: FilePurpose,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    update files set purpose = ${purpose} where key = ${key} and owner_id = ${ownerId} returning id`;
  return row?.id;
}

export interface PurposeRange {
  purpose: string | undefined;
  /** The id of the last file of the page before. */
  after: string | undefined;
  isAscending: boolean;
  limit: number;
}

export async function listPurposeFiles(
  sql: Sql,
  scope: Scope,
  { purpose, after, isAscending, limit }: PurposeRange,
): Promise<PurposeFile[]> {
  const beyond = isAscending ? sql`f.id > ${after ?? ""}` : sql`f.id < ${after ?? "file_~"}`;
  return sql<PurposeFile[]>`
    select ${columnsOf(sql)} from files f
    where f.state = 'stored' and f.purpose is not null and ${beyond} and ${inScope(sql, scope)}
      ${purpose === undefined ? sql`` : sql`and f.purpose = ${purpose}`}
    order by f.id ${isAscending ? sql`asc` : sql`desc`} limit ${limit}`;
}

/** Results of a batch, also those that a node did not finish. */
export async function listResultsOf(sql: Sql, ownerId: string, batchId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from files where owner_id = ${ownerId} and batch_id = ${batchId} and purpose = 'batch_output'`;
  return rows.map(({ id }) => id);
}
