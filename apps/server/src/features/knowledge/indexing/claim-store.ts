import type { Sql } from "../../../engines/database/database.ts";
import type { DriveIndex } from "../knowledge.ts";

export interface ClaimedFile {
  path: string;
  blobKey: string;
  claim: number;
  /** Including this one. */
  attempts: number;
  /** Of the stored file; null if it has another version than the mark. */
  size: number | null;
  contentType: string | null;
  index: DriveIndex;
}

/** A paused index tries one file, and further ones after this time if that one does not end. */
const probeEverySeconds = 300;

/**
 * Claims the next file: of the user with the fewest claims. `isLastSlot`: only of a user without one, so that a user with
 * many files cannot hold all slots.
 */
export async function claimFile(
  sql: Sql,
  { nodeId, isLastSlot }: { nodeId: string; isLastSlot: boolean },
): Promise<ClaimedFile | undefined> {
  const [row] = await sql<(Omit<ClaimedFile, "index"> & DriveIndex)[]>`
    with busy as (
      select i.owner_id, count(*) as claims
      from drive_index_files f join drive_indexes i on i.drive_id = f.drive_id
      where f.claimed_by is not null group by i.owner_id
    ), chosen_drive as (
      select i.drive_id
      from drive_indexes i left join busy b on b.owner_id = i.owner_id
      where (i.paused_reason is null or i.retry_at <= now())
        and (b.claims is null or not ${isLastSlot})
        and exists (
          select 1 from drive_index_files f
          where f.drive_id = i.drive_id and f.status = 'pending' and f.claimed_by is null and f.due_at <= now())
      order by coalesce(b.claims, 0), random() limit 1
    ), chosen as (
      select f.drive_id, f.path
      from chosen_drive d cross join lateral (
        select f.drive_id, f.path from drive_index_files f
        where f.drive_id = d.drive_id and f.status = 'pending' and f.claimed_by is null and f.due_at <= now()
        order by f.due_at limit 1
        for update skip locked
      ) f
    ), claimed as (
      update drive_index_files f
      set claimed_by = ${nodeId}, claim = f.claim + 1, attempts = f.attempts + 1, updated_at = now()
      from chosen c where f.drive_id = c.drive_id and f.path = c.path
      returning f.drive_id, f.path, f.blob_key, f.claim, f.attempts
    ), probing as (
      update drive_indexes i set retry_at = now() + ${probeEverySeconds} * interval '1 second'
      from claimed c where i.drive_id = c.drive_id and i.paused_reason is not null
    )
    select c.path, c.blob_key as "blobKey", c.claim, c.attempts, s.size, s.content_type as "contentType",
      i.drive_id as "driveId", i.owner_id as "ownerId", i.key_id as "keyId", i.embedding_model as "embeddingModel",
      i.endpoint_id as "endpointId", i.dimensions, i.generation, i.version
    from claimed c join drive_indexes i on i.drive_id = c.drive_id
    left join drive_items s on s.drive_id = c.drive_id and s.path = c.path and s.blob_key = c.blob_key`;
  if (!row) return undefined;
  const { path, blobKey, claim, attempts, size, contentType, ...index } = row;
  return { path, blobKey, claim, attempts, size, contentType, index };
}

/** Returns the claims of dead nodes. Their attempts count, because a file may have killed the node. */
export async function releaseClaimsOf(sql: Sql, gone: ReturnType<Sql>): Promise<void> {
  await sql`
    update drive_index_files f set claimed_by = null, due_at = now() where f.claimed_by is not null and ${gone}`;
}

/** Returns claims of this node that it does not know: the answer to the claim was lost. */
export async function releaseUnknown(
  sql: Sql,
  nodeId: string,
  known: readonly { path: string; claim: number }[],
): Promise<void> {
  await sql`
    update drive_index_files f set claimed_by = null, attempts = greatest(0, f.attempts - 1), due_at = now()
    where f.claimed_by = ${nodeId} and f.updated_at < now() - interval '1 minute'
      and not exists (
        select 1 from unnest(${known.map(({ path }) => path)}::text[], ${known.map(({ claim }) => claim)}::int[]) as k (path, claim)
        where k.path = f.path and k.claim = f.claim)`;
}

/** The file waits again. `isTry`: the attempt counts. False if the claim was lost. */
export async function releaseFile(
  sql: Sql,
  { index, path, claim }: ClaimedFile,
  { dueInMs, isTry, reason = null }: { dueInMs: number; isTry: boolean; reason?: string | null },
): Promise<boolean> {
  const { count } = await sql`
    update drive_index_files f
    set claimed_by = null, attempts = greatest(0, f.attempts - ${isTry ? 0 : 1}), reason = ${reason},
      due_at = now() + ${dueInMs} * interval '1 millisecond', updated_at = now()
    where f.drive_id = ${index.driveId} and f.path = ${path} and f.claim = ${claim}`;
  return count > 0;
}

/** Null: the owner must change something first. */
export async function pauseIndex(
  sql: Sql,
  { driveId, keyId, generation }: DriveIndex,
  { reason, retryInMs }: { reason: string; retryInMs: number | null },
): Promise<void> {
  // Not if the owner has set up the index again meanwhile.
  await sql`
    update drive_indexes
    set paused_reason = ${reason}, retry_at = now() + ${retryInMs} * interval '1 millisecond', updated_at = now()
    where drive_id = ${driveId} and key_id = ${keyId} and generation = ${generation}`;
}
