import type { Sql } from "../../engines/database/database.ts";

/**
 *     awaiting ──► stored ──► stored (an upload link that is used again brings a new version)
 *        │ ▲          └──┐
 *        │ └─────────────┘ (an external store let in more than allowed: thrown away)
 *        └─► gone (the upload failed or never came)
 */
export type FileOrigin = "uploaded" | "link" | "output";

export interface NewFile {
  key: string;
  id: string;
  ownerId: string;
  origin: FileOrigin;
  declaredType: string | undefined;
  maxBytes: number;
  predictionId: string | undefined;
  now: Date;
}

export interface FileRow {
  key: string;
  origin: FileOrigin;
  state: "awaiting" | "stored";
  contentType: string | null;
  size: number | null;
  etag: string | null;
  maxBytes: number;
}

/** What is known once the bytes are there. */
export interface Arrival {
  size: number;
  contentType: string;
  etag: string;
  now: Date;
}

export async function insertAwaiting(sql: Sql, file: NewFile): Promise<void> {
  await sql`
    insert into files (key, id, owner_id, origin, content_type, max_bytes, prediction_id, created_at)
    values (${file.key}, ${file.id}, ${file.ownerId}, ${file.origin}, ${file.declaredType ?? null}, ${file.maxBytes},
      ${file.predictionId ?? null}, ${file.now})`;
}

/** False when the row is gone: the file was given up meanwhile. */
export async function markStored(sql: Sql, key: string, arrival: Arrival): Promise<boolean> {
  const { count } = await sql`
    update files
    set state = 'stored', size = ${arrival.size}, content_type = ${arrival.contentType}, etag = ${arrival.etag},
      stored_at = ${arrival.now}
    where key = ${key}`;
  return count > 0;
}

/** Only what never arrived can be given up. */
export async function deleteAwaiting(sql: Sql, key: string): Promise<void> {
  await sql`delete from files where key = ${key} and state = 'awaiting'`;
}

/** The bytes were thrown away; the address stays the owner's, and its link may bring others. */
export async function markAwaitingAgain(sql: Sql, ownerId: string, key: string): Promise<void> {
  await sql`
    update files set state = 'awaiting', size = null, etag = null, stored_at = null
    where key = ${key} and owner_id = ${ownerId}`;
}

export async function findOwnedFile(sql: Sql, ownerId: string, key: string): Promise<FileRow | undefined> {
  const [row] = await sql<FileRow[]>`
    select key, origin, state, content_type as "contentType", size, etag, max_bytes as "maxBytes"
    from files where key = ${key} and owner_id = ${ownerId}`;
  return row;
}

/** For the holder of a signed upload link: the signature stands for the owner, who asked for the link. */
export async function findLinkTarget(
  sql: Sql,
  key: string,
): Promise<{ maxBytes: number; declaredType: string | null } | undefined> {
  const [row] = await sql<{ maxBytes: number; declaredType: string | null }[]>`
    select max_bytes as "maxBytes", case when state = 'awaiting' then content_type end as "declaredType"
    from files where key = ${key} and origin = 'link'`;
  return row;
}

export async function listAwaitingSince(sql: Sql, before: Date, limit: number): Promise<FileRow[]> {
  return await sql<FileRow[]>`
    select key, origin, state, content_type as "contentType", size, etag, max_bytes as "maxBytes"
    from files where state = 'awaiting' and created_at < ${before}
    order by created_at limit ${limit}`;
}

export async function findNewestKey(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ key: string }[]>`select key from files where state = 'stored' order by id desc limit 1`;
  return row?.key;
}
