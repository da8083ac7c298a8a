import type { Database } from "../../apps/server/src/engines/database/index.ts";
import { numbersFrom, unitVector } from "./vectors.ts";

const rowsAtOnce = 1000;
const vocabulary = 30_000;
const wordsInChunk = 60;
const chunksOfFile = 50;
const otherDrives = 100;
/** One chunk in five is also in another drive. */
const copiedFiles = 5;
const syllables = "ba ce di fo gu ha je ki lo mu na pe qi ro su ta ve wi xo zu".split(" ");

function word(n: number): string {
  let [text, rest] = ["", n + 20];
  for (; rest > 0; rest = Math.floor(rest / 20)) text += syllables[rest % 20];
  return text;
}

/** As in real text without its stop words: the most frequent word is in every fourth chunk, most words in a few. */
export function someWord(next: () => number): string {
  const flat = 30;
  return word(Math.floor(flat * ((vocabulary + flat) / flat) ** next()) - flat);
}

/**
 * Creates an index with vectors for `driveId`, and a hundred other drives with chunks of the same words. The text index is
 * built afterwards, which takes a third of the time.
 */
export async function fillChunks(
  database: Database,
  given: { ownerId: string; driveId: string; chunks: number; dimensions: number; model: string },
): Promise<void> {
  const { sql } = database;
  const { ownerId, driveId, chunks, dimensions, model } = given;
  const next = numbersFrom(1);
  await sql`drop index drive_chunks_search`;
  const files = Array.from({ length: Math.ceil(chunks / chunksOfFile) }, (_, n) => `/papers/${word(n * 7)}-${n}.md`);
  await addDrives([driveId], files, model);
  const others = Array.from({ length: otherDrives }, (_, n) => `drv_bench${n}`);
  const copied = files.filter((_, n) => n % copiedFiles === 0);
  await addDrives(others, copied, null);
  for (let from = 0; from < chunks; from += rowsAtOnce) {
    const numbers = Array.from({ length: Math.min(rowsAtOnce, chunks - from) }, (_, n) => from + n);
    const texts = numbers.map(() => Array.from({ length: wordsInChunk }, () => someWord(next)).join(" "));
    const vectors = numbers.map(() => new Uint8Array(unitVector(dimensions, next).buffer));
    const paths = numbers.map((n) => files[Math.floor(n / chunksOfFile)] ?? "");
    await sql`
      insert into drive_chunks (drive_id, path, n, line_from, line_to, text, embedding, generation)
      select ${driveId}, c.path, c.n % ${chunksOfFile}, 1, 10, c.text, c.embedding, 1
      from unnest(${paths}::text[], ${numbers}::int[], ${texts}::text[], ${vectors}::bytea[]) as c (path, n, text, embedding)`;
  }
  await sql`
    insert into drive_chunks (drive_id, path, n, line_from, line_to, text, generation)
    select f.drive_id, c.path, c.n, 1, 10, c.text, 1
    from drive_chunks c join drive_index_files f on f.path = c.path and f.drive_id <> c.drive_id
    where c.drive_id = ${driveId}`;
  await sql`create index drive_chunks_search on drive_chunks using gin (search)`;
  await database.session((session) => session`vacuum analyze drive_chunks`, { deadlineMs: 600_000 });

  async function addDrives(ids: string[], paths: string[], embeddingModel: string | null): Promise<void> {
    await sql`
      insert into drives (id, owner_id, name, created_at)
      select id, ${ownerId}, id, now() from unnest(${ids}::text[]) as id`;
    const length = embeddingModel === null ? null : dimensions;
    await sql`
      insert into drive_indexes (drive_id, owner_id, key_id, embedding_model, endpoint_id, dimensions, chunks, version,
        created_at, updated_at)
      select id, ${ownerId}, 'key_bench', ${embeddingModel}, ${embeddingModel}, ${length}::int,
        ${Math.floor((paths.length * chunksOfFile) / ids.length)}::int, 1, now(), now()
      from unnest(${ids}::text[]) as id`;
    await sql`
      insert into drive_index_files (drive_id, path, blob_key, status, chunks, due_at, updated_at)
      select (${ids}::text[])[1 + n % ${ids.length}::int], path, ${ids[0] ?? ""} || path, 'indexed', ${chunksOfFile}::int,
        now(), now()
      from unnest(${paths}::text[]) with ordinality as f (path, n)`;
    // The server removes files from the index that the drive does not have.
    await sql`
      insert into drive_items (drive_id, path, parent, type, blob_key, size, content_type, etag, created_at, updated_at)
      select drive_id, path, '/papers', 'file', blob_key, 1, 'text/markdown', 'e', now(), now()
      from drive_index_files where drive_id = any(${ids}::text[])`;
  }
}
