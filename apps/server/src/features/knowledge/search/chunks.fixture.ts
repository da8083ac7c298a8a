import type { Database } from "../../../engines/database/database.ts";

export interface ChunkRow {
  path: string;
  text: string;
  vector?: Float32Array | undefined;
  heading?: string;
  page?: number;
  lines?: [number, number];
}

/** Writes a complete index of a drive as the indexer would. */
export async function insertIndex(
  { sql }: Database,
  {
    driveId,
    ownerId,
    dimensions = null,
    model = null,
  }: { driveId: string; ownerId: string; dimensions?: number | null; model?: string | null },
  chunks: readonly ChunkRow[],
): Promise<void> {
  const places = new Map<string, number>();
  const rows = chunks.map((chunk) => {
    const n = places.get(chunk.path) ?? 0;
    places.set(chunk.path, n + 1);
    return { ...chunk, n };
  });
  await sql`
    insert into drive_indexes (drive_id, owner_id, key_id, embedding_model, endpoint_id, dimensions, chunks, version, created_at, updated_at)
    values (${driveId}, ${ownerId}, 'key_none', ${model}, ${model}, ${dimensions}, ${rows.length}, 1, now(), now())`;
  await sql`
    insert into drive_index_files (drive_id, path, blob_key, status, chunks, due_at, updated_at)
    select ${driveId}, path, 'none', 'indexed', 1, now(), now() from unnest(${[...places.keys()]}::text[]) as path`;
  const column = <T>(of: (row: (typeof rows)[number]) => T) => rows.map(of);
  await sql`
    insert into drive_chunks (drive_id, path, n, page, line_from, line_to, heading, text, embedding, generation)
    select ${driveId}, c.*, 1 from unnest(
      ${column(({ path }) => path)}::text[], ${column(({ n }) => n)}::int[], ${column(({ page }) => page ?? null)}::int[],
      ${column(({ lines }) => lines?.[0] ?? null)}::int[], ${column(({ lines }) => lines?.[1] ?? null)}::int[],
      ${column(({ heading }) => heading ?? null)}::text[], ${column(({ text }) => text)}::text[],
      ${column(({ vector }) => (vector ? new Uint8Array(vector.buffer) : null))}::bytea[]) as c`;
}
