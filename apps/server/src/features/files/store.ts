import type { Sql, Transaction } from "../../engines/database/database.ts";
import { ofKeys, type Scope } from "../accounts/index.ts";
import { linkSeconds } from "./files-deps.ts";
import { countStored } from "./storage-quota.ts";

/**
 *     awaiting ──► stored ──► stored (another upload by the same link)
 *        │ ▲          └──┐
 *        │ └─────────────┘ (an external store accepted too many bytes: deleted)
 *        └─► gone (the upload failed or never arrived)
 *
 * After an upload link has expired, its file is checked for the last time (`open_links`). When a file is deleted, a row in
 * `deleted_files` remains until its bytes are deleted and no link can upload more.
 */
export type FileOrigin = "uploaded" | "link" | "output";
export type FileState = "awaiting" | "stored";
/** Of files of the OpenAI protocol: lines of a batch, or its results. */
export type FilePurpose = "batch" | "batch_output";

/** An upload may begin in the last second of its link and take an hour. */
export const arrivalMs = (linkSeconds + 3600) * 1000;

/** Until when an upload may still arrive. */
export function mayArriveUntil(row: { origin: FileOrigin; state: FileState; createdAt: Date }): Date {
  const isOpen = row.origin === "link" || row.state === "awaiting";
  return new Date(isOpen ? row.createdAt.getTime() + arrivalMs : 0);
}

export interface NewFile {
  key: string;
  id: string;
  ownerId: string;
  /** Undefined for an output, which has the key of its prediction. */
  keyId: string | undefined;
  origin: FileOrigin;
  declaredType: string | undefined;
  maxBytes: number;
  predictionId: string | undefined;
  purpose?: FilePurpose | undefined;
  batchId?: string | undefined;
  now: Date;
}

export interface FileRow {
  key: string;
  ownerId: string;
  origin: FileOrigin;
  state: FileState;
  contentType: string | null;
  size: number | null;
  etag: string | null;
  maxBytes: number;
}

export interface Arrival {
  size: number;
  contentType: string;
  etag: string;
  now: Date;
}

export async function insertAwaiting(sql: Sql, file: NewFile): Promise<void> {
  await sql`
    with made as (
      insert into files (key, id, owner_id, key_id, origin, content_type, max_bytes, prediction_id, purpose, batch_id,
        created_at)
      values (${file.key}, ${file.id}, ${file.ownerId}, ${file.keyId ?? null}, ${file.origin},
        ${file.declaredType ?? null}, ${file.maxBytes}, ${file.predictionId ?? null}, ${file.purpose ?? null},
        ${file.batchId ?? null}, ${file.now})
      returning key, origin, created_at
    )
    insert into open_links (key, created_at) select key, created_at from made where origin = 'link'`;
}

/** Outputs do not count towards the quota. */
const returningChange = (sql: Sql) => sql`
  returning owner_id, case when origin = 'output' then 0 else coalesce(new.size, 0) - coalesce(old.size, 0) end as more`;

/** Deletes files with their share of the total and their upload links. The statement continues with `gone`. */
const withoutFiles = (sql: Sql, chosen: ReturnType<Sql>) => sql`
  with gone as (delete from files where ${chosen} returning key, owner_id, origin, size),
    counted as (${countStored(sql, sql`select owner_id, -size as more from gone where origin <> 'output'`)}),
    closed as (delete from open_links where key in (select key from gone where origin = 'link'))`;

/**
 * Returns the owner; undefined if the row was deleted. With `unlessQuota` (the default quota in bytes), skips owners who
 * have a quota.
 */
export async function markStored(
  sql: Sql,
  key: string,
  arrival: Arrival,
  { unlessQuota }: { unlessQuota?: number } = {},
): Promise<string | undefined> {
  const hasNoQuota = sql`
    and (select coalesce(p.storage_bytes, ${unlessQuota ?? 0}) from users u join plans p on p.name = u.plan
      where u.id = owner_id) = 0`;
  const [row] = await sql<{ ownerId: string }[]>`
    with stored as (
      update files
      set state = 'stored', size = ${arrival.size}, content_type = ${arrival.contentType}, etag = ${arrival.etag},
        stored_at = ${arrival.now}
      where key = ${key} ${unlessQuota === undefined ? sql`` : hasNoQuota}
      ${returningChange(sql)}
    ), counted as (${countStored(sql, sql`select owner_id, more from stored`)})
    select owner_id as "ownerId" from stored`;
  return row?.ownerId;
}

export async function deleteAwaiting(sql: Sql, key: string): Promise<void> {
  await sql`${withoutFiles(sql, sql`key = ${key} and state = 'awaiting'`)} select key from gone`;
}

/** After the bytes were deleted. The address stays, and its link may upload again. */
export async function markAwaitingAgain(sql: Sql, { ownerId, key }: Pick<FileRow, "ownerId" | "key">): Promise<void> {
  await sql`
    with awaiting as (
      update files set state = 'awaiting', size = null, etag = null, stored_at = null
      where key = ${key} and owner_id = ${ownerId}
      ${returningChange(sql)}
    )
    ${countStored(sql, sql`select owner_id, more from awaiting`)}`;
}

const columnsOf = (sql: Sql) => sql`
  f.key, f.owner_id as "ownerId", f.origin, f.state, f.content_type as "contentType", f.size, f.etag,
  f.max_bytes as "maxBytes"`;

/** A key limited to models sees its own uploads and the outputs of its predictions. */
export const inScope = (sql: Sql, { userId, onlyKeyIds }: Scope) => sql`
  f.owner_id = ${userId} ${
    onlyKeyIds === null
      ? sql``
      : sql`and (${ofKeys(sql, onlyKeyIds, sql`f.key_id`)}
          or exists (select 1 from ended_predictions e where e.id = f.prediction_id and ${ofKeys(sql, onlyKeyIds, sql`e.key_id`)})
          or exists (select 1 from live_predictions l where l.id = f.prediction_id and ${ofKeys(sql, onlyKeyIds, sql`l.key_id`)}))`
  }`;

export async function findOwnedFile(sql: Sql, scope: Scope, key: string): Promise<FileRow | undefined> {
  const [row] = await sql<FileRow[]>`
    select ${columnsOf(sql)} from files f where f.key = ${key} and ${inScope(sql, scope)}`;
  return row;
}

export interface LinkTarget {
  ownerId: string;
  maxBytes: number;
  /** Of the previous upload, which the next one replaces. */
  presentBytes: number;
  declaredType: string | null;
}

/** Not scoped by owner: the signature of the link authorises the upload. */
export async function findLinkTarget(sql: Sql, key: string): Promise<LinkTarget | undefined> {
  const [row] = await sql<LinkTarget[]>`
    select owner_id as "ownerId", max_bytes as "maxBytes", coalesce(size, 0) as "presentBytes",
      case when state = 'awaiting' then content_type end as "declaredType"
    from files where key = ${key} and origin = 'link'`;
  return row;
}

export async function listAwaitingSince(sql: Sql, before: Date, limit: number): Promise<FileRow[]> {
  return await sql<FileRow[]>`
    select ${columnsOf(sql)} from files f where f.state = 'awaiting' and f.created_at < ${before}
    order by f.created_at limit ${limit}`;
}

/** Stored files whose upload link has expired and was not checked since. */
export async function listLinkedSince(sql: Sql, before: Date, limit: number): Promise<FileRow[]> {
  return await sql<FileRow[]>`
    select ${columnsOf(sql)} from open_links o join files f on f.key = o.key
    where o.created_at < ${before} and f.state = 'stored'
    order by o.created_at limit ${limit}`;
}

export async function closeLink(sql: Sql, key: string): Promise<void> {
  await sql`delete from open_links where key = ${key}`;
}

export async function findNewestKey(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ key: string }[]>`select key from files where state = 'stored' order by id desc limit 1`;
  return row?.key;
}

// Deletion

export interface OwnRow {
  key: string;
  origin: FileOrigin;
  state: FileState;
  createdAt: Date;
  /** The active prediction that produced it. */
  livePredictionId: string | null;
  /** A batch that still reads it. */
  liveBatchId: string | null;
}

/** Batches reuse a file as often as their owner wants. */
const batchOf = (sql: Sql) => sql`
  select b.id from batches b
  where f.purpose = 'batch' and b.user_id = f.owner_id and b.input_file_id = f.id and b.ended_at is null limit 1`;

export async function lockOwnFile(tx: Transaction, scope: Scope, id: string): Promise<OwnRow | undefined> {
  const [row] = await tx<OwnRow[]>`
    select f.key, f.origin, f.state, f.created_at as "createdAt",
      (select l.id from live_predictions l where l.id = f.prediction_id) as "livePredictionId",
      (${batchOf(tx)}) as "liveBatchId"
    from files f where f.id = ${id} and ${inScope(tx, scope)} for update of f`;
  return row;
}

export async function deleteFileRow(tx: Transaction, id: string): Promise<void> {
  await tx`${withoutFiles(tx, tx`id = ${id}`)} select key from gone`;
}

export async function insertDeleted(tx: Transaction, key: string, collectAfter: Date): Promise<void> {
  await tx`insert into deleted_files (key, collect_after) values (${key}, ${collectAfter})`;
}

/** Replaces a file whose upload failed by a row in `deleted_files`. */
export async function abandonFile(
  sql: Sql,
  { ownerId, key }: Pick<FileRow, "ownerId" | "key">,
  collectAfter: Date,
): Promise<void> {
  await sql`
    ${withoutFiles(sql, sql`key = ${key} and owner_id = ${ownerId}`)}
    insert into deleted_files (key, collect_after) select key, ${collectAfter} from gone`;
}

export async function postponeDeleted(sql: Sql, key: string, collectAfter: Date): Promise<void> {
  await sql`update deleted_files set collect_after = ${collectAfter} where key = ${key}`;
}

export async function listDueDeleted(sql: Sql, now: Date, limit: number): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select key from deleted_files where collect_after <= ${now} order by collect_after limit ${limit}`;
  return rows.map((row) => row.key);
}

export async function deleteDeletedRows(sql: Sql, keys: readonly string[]): Promise<void> {
  await sql`delete from deleted_files where key = any(${[...keys]}::text[])`;
}

/** Oldest first, by arrival. The sweep handles uploads that never arrived. Results of batches have an age of their own. */
export async function listUploadsBefore(
  sql: Sql,
  before: Date,
  limit: number,
): Promise<{ ownerId: string; id: string }[]> {
  return sql<{ ownerId: string; id: string }[]>`
    select f.owner_id as "ownerId", f.id from files f
    where coalesce(stored_at, created_at) < ${before} and origin <> 'output' and state = 'stored'
      and purpose is distinct from 'batch_output' and not exists (${batchOf(sql)})
    order by coalesce(stored_at, created_at) limit ${limit}`;
}

export async function listIdsOf(sql: Sql, ownerId: string, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from files where owner_id = ${ownerId} order by id limit ${limit}`;
  return rows.map(({ id }) => id);
}

export async function selectOutputKeys(sql: Sql, predictionIds: readonly string[]): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select key from files where prediction_id = any(${predictionIds}::text[]) and origin = 'output'`;
  return rows.map((row) => row.key);
}

/** Outputs do not count towards the quota, so no total changes. */
export async function deleteOutputRows(tx: Transaction, predictionIds: readonly string[]): Promise<void> {
  await tx`delete from files where prediction_id = any(${predictionIds}::text[]) and origin = 'output'`;
}
