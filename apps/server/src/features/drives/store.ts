import type { Sql, Transaction } from "../../engines/database/database.ts";
import { countStored } from "../files/index.ts";
import type { Drive, DriveFile, Item, Location, Page } from "./drive.ts";
import { markWritten, unmark } from "./index-marks.ts";
import { ancestorsOf, parentOf } from "./path.rules.ts";

// Drives

export async function insertDrive(sql: Sql, drive: Drive & { ownerId: string }): Promise<void> {
  await sql`
    insert into drives (id, owner_id, name, description, created_at)
    values (${drive.id}, ${drive.ownerId}, ${drive.name}, ${drive.description}, ${drive.createdAt})`;
}

export async function selectDrive(sql: Sql, ownerId: string, id: string): Promise<Drive | undefined> {
  const [row] = await sql<Drive[]>`
    select id, name, description, created_at as "createdAt" from drives where id = ${id} and owner_id = ${ownerId}`;
  return row;
}

export async function selectDriveIds(sql: Sql, ownerId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`
    select id from drives where id = any(${[...ids]}::text[]) and owner_id = ${ownerId}`;
  return new Set(rows.map(({ id }) => id));
}

export async function selectDrives(
  sql: Sql,
  ownerId: string,
  { limit, offset }: Page,
): Promise<{ drives: Drive[]; total: number }> {
  const [drives, [count]] = await Promise.all([
    sql<Drive[]>`
      select id, name, description, created_at as "createdAt" from drives where owner_id = ${ownerId}
      order by created_at desc, id desc limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total from drives where owner_id = ${ownerId}`,
  ]);
  return { drives, total: count?.total ?? 0 };
}

/** Needs the lock. Undefined fields stay. */
export async function updateDrive(
  tx: Transaction,
  id: string,
  { name, description }: { name?: string | undefined; description?: string | null | undefined },
): Promise<void> {
  await tx`
    update drives set name = coalesce(${name ?? null}, name),
      description = case when ${description === undefined} then description else ${description ?? null} end
    where id = ${id}`;
}

/** Locks the drive with its items. False if the owner does not have it. */
export async function lockDrive(tx: Transaction, ownerId: string, id: string): Promise<boolean> {
  const rows = await tx`select 1 from drives where id = ${id} and owner_id = ${ownerId} for update`;
  return rows.length > 0;
}

/** Any drive of the owner. */
export async function lockDriveOf(tx: Transaction, ownerId: string): Promise<string | undefined> {
  const [row] = await tx<{ id: string }[]>`select id from drives where owner_id = ${ownerId} limit 1 for update`;
  return row?.id;
}

/** Needs the lock. Deletes the items too; their blobs become loose. */
export async function deleteDriveRow(tx: Transaction, id: string, now: Date): Promise<void> {
  await deleteTreeRows(tx, id, "/", now);
  await tx`delete from drives where id = ${id}`;
}

// Items

export type FileRow = DriveFile & { blobKey: string };

export async function selectFile(sql: Sql, { ownerId, driveId, path }: Location): Promise<FileRow | undefined> {
  const [row] = await sql<FileRow[]>`
    select i.path, i.size, i.content_type as "contentType", i.etag, i.created_at as "createdAt",
      i.updated_at as "updatedAt", i.blob_key as "blobKey"
    from drive_items i join drives d on d.id = i.drive_id
    where i.drive_id = ${driveId} and i.path = ${path} and i.type = 'file' and d.owner_id = ${ownerId}`;
  return row;
}

export async function directoryExists(sql: Sql, { ownerId, driveId, path }: Location): Promise<boolean> {
  const rows = await sql`
    select 1 from drive_items i join drives d on d.id = i.drive_id
    where i.drive_id = ${driveId} and i.path = ${path} and i.type = 'directory' and d.owner_id = ${ownerId}`;
  return rows.length > 0;
}

/** Files of a drive, sorted by path. `after`: the last path of the page before. */
export async function selectFilesAfter(
  sql: Sql,
  { ownerId, driveId, after }: { ownerId: string; driveId: string; after: string },
  limit: number,
): Promise<FileRow[]> {
  return sql<FileRow[]>`
    select i.path, i.size, i.content_type as "contentType", i.etag, i.created_at as "createdAt",
      i.updated_at as "updatedAt", i.blob_key as "blobKey"
    from drive_items i join drives d on d.id = i.drive_id
    where i.drive_id = ${driveId} and i.path > ${after} and i.type = 'file' and d.owner_id = ${ownerId}
    order by i.path limit ${limit}`;
}

export async function selectItems(
  sql: Sql,
  { ownerId, driveId, path }: Location,
  { limit, offset }: Page,
): Promise<{ items: Item[]; total: number }> {
  const [rows, [count]] = await Promise.all([
    // The index finds the page, so that rows before it are not read.
    sql<{ path: string; type: Item["type"]; size: number | null }[]>`
      with page as materialized (
        select i.drive_id, i.path from drive_items i join drives d on d.id = i.drive_id
        where i.drive_id = ${driveId} and i.parent = ${path} and d.owner_id = ${ownerId}
        order by i.path limit ${limit} offset ${offset}
      )
      select i.path, i.type, i.size from page join drive_items i on i.drive_id = page.drive_id and i.path = page.path
      order by i.path`,
    sql<{ total: number }[]>`
      select count(*)::int as total from drive_items i join drives d on d.id = i.drive_id
      where i.drive_id = ${driveId} and i.parent = ${path} and d.owner_id = ${ownerId}`,
  ]);
  const items = rows.map(({ path: at, type, size }): Item => {
    return type === "file" ? { path: at, type, size: size ?? 0 } : { path: at, type };
  });
  return { items, total: count?.total ?? 0 };
}

// Changes. All need the drive's lock, which also checks the owner.

export type Occupant = { createdAt: Date } & (
  | { type: "file"; blobKey: string; etag: string; size: number }
  | { type: "directory"; blobKey: null; etag: null; size: null }
);

export async function selectOccupant(tx: Transaction, driveId: string, path: string): Promise<Occupant | undefined> {
  const [row] = await tx<Occupant[]>`
    select type, blob_key as "blobKey", etag, size, created_at as "createdAt" from drive_items
    where drive_id = ${driveId} and path = ${path}`;
  return row;
}

/** A file in the place of one of the path's directories. */
export async function selectFileAbove(tx: Transaction, driveId: string, path: string): Promise<string | undefined> {
  const [row] = await tx<{ path: string }[]>`
    select path from drive_items
    where drive_id = ${driveId} and path = any(${ancestorsOf(path)}::text[]) and type = 'file' limit 1`;
  return row?.path;
}

/** Adds the bytes of `change` to the total of the drive's owner. */
const countChange = (tx: Transaction) =>
  countStored(
    tx,
    tx`select d.owner_id, c.more from change c join drives d on d.id = c.drive_id where c.more is not null`,
  );

export async function insertFile(tx: Transaction, driveId: string, file: FileRow): Promise<void> {
  const directories = ancestorsOf(file.path);
  await tx`
    insert into drive_items (drive_id, path, parent, type, created_at, updated_at)
    select ${driveId}::text, u.path, u.parent, 'directory', ${file.createdAt}::timestamptz, ${file.createdAt}::timestamptz
    from unnest(${directories}::text[], ${directories.map(parentOf)}::text[]) as u (path, parent)
    on conflict (drive_id, path) do nothing`;
  await tx`
    with change as (
      insert into drive_items
        (drive_id, path, parent, type, blob_key, size, content_type, etag, created_at, updated_at)
      values (${driveId}, ${file.path}, ${parentOf(file.path)}, 'file', ${file.blobKey}, ${file.size},
        ${file.contentType}, ${file.etag}, ${file.createdAt}, ${file.updatedAt})
      returning drive_id, size as more
    )
    ${countChange(tx)}`;
  await markWritten(tx, driveId, file);
}

export async function updateFile(tx: Transaction, driveId: string, file: FileRow): Promise<void> {
  await tx`
    with change as (
      update drive_items
      set blob_key = ${file.blobKey}, size = ${file.size}, content_type = ${file.contentType}, etag = ${file.etag},
        updated_at = ${file.updatedAt}
      where drive_id = ${driveId} and path = ${file.path} and type = 'file'
      returning drive_id, new.size - old.size as more
    )
    ${countChange(tx)}`;
  await markWritten(tx, driveId, file);
}

export async function deleteFileRow(tx: Transaction, driveId: string, path: string): Promise<void> {
  await tx`
    with change as (
      delete from drive_items where drive_id = ${driveId} and path = ${path} and type = 'file'
      returning drive_id, -size as more
    )
    ${countChange(tx)}`;
  await unmark(tx, driveId, path);
}

/** Deletes a directory with everything in it. Returns the number of files; their blobs become loose. */
export async function deleteTreeRows(tx: Transaction, driveId: string, path: string, now: Date): Promise<number> {
  const below = path === "/" ? "/" : `${path}/`;
  const [row] = await tx<[{ files: number }]>`
    with change as (
      delete from drive_items
      where drive_id = ${driveId} and (path = ${path} or (path >= ${below} and path < ${justPast(below)}))
      returning drive_id, blob_key, -size as more
    ), counted as (${countChange(tx)}), loose as (
      insert into drive_loose_blobs (key, collect_after)
      select blob_key, ${now}::timestamptz from change where blob_key is not null
      returning 1
    )
    select count(*)::int as files from loose`;
  await unmark(tx, driveId, below, justPast(below));
  return row.files;
}

/** Deletes those of the path's directories that are empty now. */
export async function pruneDirectories(tx: Transaction, driveId: string, path: string): Promise<void> {
  await tx`
    delete from drive_items d
    where d.drive_id = ${driveId} and d.path = any(${ancestorsOf(path)}::text[]) and d.type = 'directory'
      and not exists (
        select 1 from drive_items f
        where f.drive_id = d.drive_id and f.path > d.path || '/' and f.path < d.path || '0' and f.type = 'file')`;
}

/** The first text in byte order after all that begin with this prefix, which ends in a slash. */
function justPast(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}

// Loose blobs: without a file

export async function insertLooseBlob(sql: Sql, key: string, collectAfter: Date): Promise<void> {
  await sql`insert into drive_loose_blobs (key, collect_after) values (${key}, ${collectAfter})`;
}

/** False if the collector has claimed the blob. */
export async function takeLooseBlob(tx: Transaction, key: string): Promise<boolean> {
  const { count } = await tx`delete from drive_loose_blobs where key = ${key} and not is_doomed`;
  return count > 0;
}

/** After this no file can take the blob. False if it is not loose. */
export async function claimLooseBlob(sql: Sql, key: string, now: Date): Promise<boolean> {
  const { count } = await sql`
    update drive_loose_blobs set is_doomed = true, collect_after = least(collect_after, ${now}) where key = ${key}`;
  return count > 0;
}

/** Claims due blobs for the collector. Unfinished ones are due again at `again`. */
export async function claimLooseBlobs(
  sql: Sql,
  { now, again, limit }: { now: Date; again: Date; limit: number },
): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    update drive_loose_blobs set is_doomed = true, collect_after = ${again}
    where key in (
      select key from drive_loose_blobs where collect_after <= ${now}
      order by collect_after limit ${limit} for update skip locked)
    returning key`;
  return rows.map((row) => row.key);
}

export async function deleteLooseBlobRows(sql: Sql, keys: readonly string[]): Promise<void> {
  await sql`delete from drive_loose_blobs where key = any(${[...keys]}::text[])`;
}
