import type { Transaction } from "../../engines/database/database.ts";

/**
 * Marks of an indexed drive's files, written in the transaction that changes the files. Locks are taken in the order
 * drive, marks, index.
 */

/** The columns of a file that waits to be indexed. A node that works on an earlier version loses its claim. */
const waiting = (tx: Transaction) => tx`
  blob_key = excluded.blob_key, status = 'pending', reason = null, claimed_by = null, claim = drive_index_files.claim + 1,
  attempts = 0, due_at = excluded.due_at, updated_at = excluded.updated_at`;

export async function markWritten(
  tx: Transaction,
  driveId: string,
  { path, blobKey }: { path: string; blobKey: string },
): Promise<void> {
  await tx`
    insert into drive_index_files (drive_id, path, blob_key, due_at, updated_at)
    select drive_id, ${path}, ${blobKey}, now(), now() from drive_indexes where drive_id = ${driveId}
    on conflict (drive_id, path) do update set ${waiting(tx)}`;
}

/** Deletes the chunks too. `upTo`: all paths from `path` up to this one, in byte order. */
export async function unmark(tx: Transaction, driveId: string, path: string, upTo?: string): Promise<void> {
  const chosen = upTo === undefined ? tx`path = ${path}` : tx`path >= ${path} and path < ${upTo}`;
  await tx`
    with gone as (
      delete from drive_index_files where drive_id = ${driveId} and ${chosen} returning chunks
    )
    update drive_indexes i set version = version + 1, chunks = i.chunks - g.chunks, updated_at = now()
    from (select sum(chunks) as chunks from gone) g
    where i.drive_id = ${driveId} and g.chunks > 0`;
}

/** Needs the lock of the drive. `all`: also marks files whose current version is indexed. */
export async function markFiles(tx: Transaction, driveId: string, which: "all" | "changed"): Promise<void> {
  const outdated = which === "all" ? tx`true` : tx`drive_index_files.blob_key <> excluded.blob_key`;
  await tx`
    insert into drive_index_files (drive_id, path, blob_key, due_at, updated_at)
    select x.drive_id, i.path, i.blob_key, now(), now()
    from drive_indexes x join drive_items i on i.drive_id = x.drive_id and i.type = 'file'
    where x.drive_id = ${driveId}
    order by i.path
    on conflict (drive_id, path) do update set ${waiting(tx)} where ${outdated}`;
  await tx`
    with gone as (
      delete from drive_index_files f
      where f.drive_id = ${driveId} and not exists (
        select 1 from drive_items i where i.drive_id = f.drive_id and i.path = f.path and i.type = 'file')
      returning chunks
    )
    update drive_indexes i set version = version + 1, chunks = i.chunks - g.chunks, updated_at = now()
    from (select sum(chunks) as chunks from gone) g
    where i.drive_id = ${driveId} and g.chunks > 0`;
}
