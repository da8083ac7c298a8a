import type { Sql, Transaction } from "../../../engines/database/database.ts";
import type { Chunk } from "../../../engines/documents/documents.ts";
import type { DriveIndex } from "../knowledge.ts";
import type { ClaimedFile } from "./claim-store.ts";

export const mostChunksOfDrive = 200_000;
export const mostChunksOfUser = 500_000;
/** A chunk with a longer vector counts for more than one, so that the bounds hold for bytes too. */
const valuesOfChunk = 1_536;
const rowsAtOnce = 500;

export type EmbeddedChunk = Chunk & { embedding: Uint8Array | null };

/** Whether the index has space for so many chunks of the file, in the place of its present ones. */
export async function fitsIndex(sql: Sql, { index, path }: ClaimedFile, chunks: number): Promise<boolean> {
  const [row] = await sql<[{ ofDrive: number; ofUser: number }]>`
    select coalesce(sum(e.size) filter (where e.is_own), 0)::float8 as "ofDrive", coalesce(sum(e.size), 0)::float8 as "ofUser"
    from drive_index_files f
    join drive_indexes i on i.owner_id = ${index.ownerId}
    cross join lateral (select i.drive_id = f.drive_id as is_own) own
    cross join lateral (
      select own.is_own, (i.chunks + case when own.is_own then ${chunks}::int - f.chunks else 0 end)
        * greatest(1, i.dimensions / ${valuesOfChunk}::float8) as size
    ) e
    where f.drive_id = ${index.driveId} and f.path = ${path}`;
  return row === undefined || (row.ofDrive <= mostChunksOfDrive && row.ofUser <= mostChunksOfUser);
}

/**
 * The model and the length of this generation's vectors. The first to call it decides. Undefined if the generation has
 * ended.
 */
export async function settleModel(
  sql: Sql,
  { driveId, generation }: DriveIndex,
  { endpointId, dimensions }: { endpointId: string; dimensions: number },
): Promise<{ endpointId: string; dimensions: number } | undefined> {
  const [row] = await sql<{ endpointId: string; dimensions: number }[]>`
    update drive_indexes
    set endpoint_id = coalesce(endpoint_id, ${endpointId}), dimensions = coalesce(dimensions, ${dimensions})
    where drive_id = ${driveId} and generation = ${generation}
    returning endpoint_id as "endpointId", dimensions`;
  return row;
}

/** Vectors that were paid for before, by the hash of their text: of a try that was interrupted, or of an earlier version. */
export async function selectVectors(sql: Sql, { index, path }: ClaimedFile): Promise<Map<string, Uint8Array>> {
  const rows = await sql<{ hash: string; embedding: Uint8Array }[]>`
    select encode(hash, 'hex') as hash, embedding from drive_index_vectors
    where drive_id = ${index.driveId} and path = ${path} and generation = ${index.generation}
    union all
    select encode(sha256(convert_to(coalesce(heading || E'\\n', '') || text, 'UTF8')), 'hex'), embedding from drive_chunks
    where drive_id = ${index.driveId} and path = ${path} and generation = ${index.generation} and embedding is not null`;
  return new Map(rows.map(({ hash, embedding }) => [hash, embedding]));
}

/** False if the claim was lost. The vectors are kept until the file is indexed. */
export async function storeVectors(
  sql: Sql,
  { index, path, claim }: ClaimedFile,
  vectors: readonly { hash: string; embedding: Uint8Array }[],
): Promise<boolean> {
  const [row] = await sql<[{ isOurs: boolean }]>`
    with ours as (
      select 1 from drive_index_files where drive_id = ${index.driveId} and path = ${path} and claim = ${claim}
    ), stored as (
      insert into drive_index_vectors (drive_id, path, hash, embedding, generation)
      select ${index.driveId}, ${path}, decode(v.hash, 'hex'), v.embedding, ${index.generation}
      from unnest(${vectors.map(({ hash }) => hash)}::text[], ${vectors.map(({ embedding }) => embedding)}::bytea[])
        as v (hash, embedding), ours
      on conflict (drive_id, path, hash) do update
      set embedding = excluded.embedding, generation = excluded.generation
    )
    select exists (select 1 from ours) as "isOurs"`;
  return row.isOurs;
}

export interface FileEnd {
  status: "indexed" | "failed" | "skipped";
  reason: string | null;
  chunks: readonly EmbeddedChunk[];
}

/** Replaces the chunks of the file in one transaction. False if the claim was lost or the file has another version. */
export async function endFile(
  tx: Transaction,
  file: ClaimedFile,
  { status, reason, chunks }: FileEnd,
): Promise<boolean> {
  const { index, path, claim, blobKey } = file;
  const [before] = await tx<{ chunks: number }[]>`
    select f.chunks from drive_index_files f
    where f.drive_id = ${index.driveId} and f.path = ${path} and f.claim = ${claim} and f.claimed_by is not null
      and exists (
        select 1 from drive_items i where i.drive_id = f.drive_id and i.path = f.path and i.blob_key = ${blobKey})
    for update of f`;
  if (!before) return false;
  // A claim may have read the index just before its generation ended.
  const [current] = await tx`
    select 1 from drive_indexes where drive_id = ${index.driveId} and generation = ${index.generation} for update`;
  if (!current) return false;
  await tx`delete from drive_chunks where drive_id = ${index.driveId} and path = ${path}`;
  await tx`delete from drive_index_vectors where drive_id = ${index.driveId} and path = ${path}`;
  for (let from = 0; from < chunks.length; from += rowsAtOnce) {
    await insertChunks(tx, file, chunks.slice(from, from + rowsAtOnce), from);
  }
  await tx`
    update drive_index_files
    set status = ${status}, reason = ${reason}, chunks = ${chunks.length}, claimed_by = null, updated_at = now()
    where drive_id = ${index.driveId} and path = ${path}`;
  const isChanged = chunks.length > 0 || before.chunks > 0;
  await tx`
    update drive_indexes
    set version = version + ${isChanged ? 1 : 0}, chunks = chunks + ${chunks.length - before.chunks},
      paused_reason = null, retry_at = null, updated_at = now()
    where drive_id = ${index.driveId}`;
  return true;
}

async function insertChunks(
  tx: Transaction,
  { index, path }: ClaimedFile,
  rows: readonly EmbeddedChunk[],
  from: number,
): Promise<void> {
  await tx`
    insert into drive_chunks
      (drive_id, path, n, page, line_from, line_to, heading, text, embedding, generation)
    select ${index.driveId}, ${path}, ${from} + c.n - 1, c.page, c.line_from, c.line_to, c.heading, c.text, c.embedding,
      ${index.generation}
    from unnest(
      ${rows.map(({ page }) => page)}::int[], ${rows.map(({ lineFrom }) => lineFrom)}::int[],
      ${rows.map(({ lineTo }) => lineTo)}::int[], ${rows.map(({ heading }) => heading)}::text[],
      ${rows.map(({ text }) => text)}::text[], ${rows.map(({ embedding }) => embedding)}::bytea[]
    ) with ordinality as c (page, line_from, line_to, heading, text, embedding, n)`;
}
