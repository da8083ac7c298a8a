import type { DriveIndexRecord, IndexFileStatus } from "@gantry/wire";
import type { Sql, Transaction } from "../../engines/database/database.ts";
import type { DriveIndex } from "./knowledge.ts";

/** For work inside the server, which has found the drive before. */
export async function selectIndex(sql: Sql, driveId: string): Promise<DriveIndex | undefined> {
  const [row] = await sql<DriveIndex[]>`
    select drive_id as "driveId", owner_id as "ownerId", key_id as "keyId", embedding_model as "embeddingModel",
      endpoint_id as "endpointId", dimensions, generation, version
    from drive_indexes where drive_id = ${driveId}`;
  return row;
}

export async function selectOwner(sql: Sql, driveId: string): Promise<string | undefined> {
  const [row] = await sql<{ ownerId: string }[]>`
    select owner_id as "ownerId" from drive_indexes where drive_id = ${driveId}`;
  return row?.ownerId;
}

/** The state of the drives' indexes, by drive. */
export async function selectIndexRecords(
  sql: Sql,
  ownerId: string,
  driveIds: readonly string[],
): Promise<ReadonlyMap<string, DriveIndexRecord>> {
  const rows = await sql<(Omit<DriveIndexRecord, "status" | "updated_at"> & { driveId: string; updatedAt: Date })[]>`
    select i.drive_id as "driveId", i.embedding_model, i.paused_reason, i.chunks, i.updated_at as "updatedAt",
      f.files, f.indexed, f.failed, f.skipped
    from drive_indexes i cross join lateral (
      select count(*)::int as files, (count(*) filter (where status = 'indexed'))::int as indexed,
        (count(*) filter (where status = 'failed'))::int as failed,
        (count(*) filter (where status = 'skipped'))::int as skipped
      from drive_index_files f where f.drive_id = i.drive_id
    ) f
    where i.drive_id = any(${[...driveIds]}::text[]) and i.owner_id = ${ownerId}`;
  return new Map(
    rows.map(({ driveId, updatedAt, ...index }) => {
      const isReady = index.indexed + index.failed + index.skipped === index.files;
      const status = index.paused_reason !== null ? "paused" : isReady ? "ready" : "indexing";
      return [driveId, { ...index, status, updated_at: updatedAt.toISOString() }];
    }),
  );
}

export interface IndexFile {
  path: string;
  status: IndexFileStatus;
  reason: string | null;
  chunks: number;
  updatedAt: Date;
}

export async function selectIndexFiles(
  sql: Sql,
  { ownerId, driveId }: { ownerId: string; driveId: string },
  { status = null, limit, offset }: { status?: IndexFileStatus | null | undefined; limit: number; offset: number },
): Promise<{ files: IndexFile[]; total: number }> {
  const chosen = sql`
    from drive_index_files f join drive_indexes i on i.drive_id = f.drive_id
    where f.drive_id = ${driveId} and i.owner_id = ${ownerId} and (${status}::text is null or f.status = ${status})`;
  const [files, [count]] = await Promise.all([
    sql<IndexFile[]>`
      select f.path, f.status, f.reason, f.chunks, f.updated_at as "updatedAt" ${chosen}
      order by f.path limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total ${chosen}`,
  ]);
  return { files, total: count?.total ?? 0 };
}

// Changes. All need the lock of the drive. Marks are locked before their index.

/**
 * Generations begin at a random number: vectors of an index of the drive that was deleted before, in the memory of a node or
 * on their way from the model, must not pass for vectors of this one.
 */
export async function insertIndex(
  tx: Transaction,
  index: Pick<DriveIndex, "driveId" | "ownerId" | "keyId" | "embeddingModel">,
): Promise<void> {
  await tx`
    insert into drive_indexes (drive_id, owner_id, key_id, embedding_model, generation, created_at, updated_at)
    values (${index.driveId}, ${index.ownerId}, ${index.keyId}, ${index.embeddingModel},
      1 + floor(random() * 1000000000)::int, now(), now())`;
}

export async function deleteIndex(tx: Transaction, driveId: string): Promise<void> {
  await tx`delete from drive_index_files where drive_id = ${driveId}`;
  await tx`delete from drive_indexes where drive_id = ${driveId}`;
}

/** Also files that wait for their next attempt. */
export async function retryFailed(tx: Transaction, driveId: string): Promise<void> {
  await tx`
    update drive_index_files
    set status = 'pending', reason = null, attempts = 0, due_at = now(), updated_at = now()
    where drive_id = ${driveId} and (status = 'failed' or status = 'pending' and due_at > now())`;
}

export async function resumeIndex(tx: Transaction, driveId: string, keyId: string): Promise<void> {
  await tx`
    update drive_indexes set key_id = ${keyId}, paused_reason = null, retry_at = null, updated_at = now()
    where drive_id = ${driveId}`;
}

/** Earlier vectors are not searched any more. Their chunks stay until the new ones replace them. */
export async function renewGeneration(
  tx: Transaction,
  driveId: string,
  { keyId, embeddingModel }: Pick<DriveIndex, "keyId" | "embeddingModel">,
): Promise<void> {
  await tx`
    update drive_indexes
    set key_id = ${keyId}, embedding_model = ${embeddingModel}, endpoint_id = null, dimensions = null,
      generation = generation + 1, version = version + 1, paused_reason = null, retry_at = null, updated_at = now()
    where drive_id = ${driveId}`;
}

/** Indexed drives with a file whose mark is missing or names another version. */
export async function selectChangedDrives(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select x.drive_id as id from drive_indexes x
    where exists (
      select 1 from drive_items i left join drive_index_files f on f.drive_id = i.drive_id and f.path = i.path
      where i.drive_id = x.drive_id and i.type = 'file' and f.blob_key is distinct from i.blob_key
    ) or exists (
      select 1 from drive_index_files f left join drive_items i on i.drive_id = f.drive_id and i.path = f.path
      where f.drive_id = x.drive_id and i.blob_key is null
    )`;
  return rows.map(({ id }) => id);
}
