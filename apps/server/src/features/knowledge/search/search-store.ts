import type { Sql } from "../../../engines/database/database.ts";
import type { VectorSet } from "../../../engines/vectors/vectors.ts";

export interface SearchedIndex {
  driveId: string;
  /** Length of the vectors; null before the first one. */
  dimensions: number | null;
  generation: number;
  version: number;
  chunks: number;
  /** Files wait to be indexed. */
  isPending: boolean;
}

export interface FoundChunk {
  id: number;
  path: string;
  page: number | null;
  lineFrom: number | null;
  lineTo: number | null;
  heading: string | null;
  text: string;
}

/** Undefined if the owner has no such drive; null if the drive has no index. */
export async function selectSearchedIndex(
  sql: Sql,
  ownerId: string,
  driveId: string,
): Promise<SearchedIndex | null | undefined> {
  const [row] = await sql<(SearchedIndex & { isIndexed: boolean })[]>`
    select d.id as "driveId", i.drive_id is not null as "isIndexed", i.dimensions, i.generation, i.version, i.chunks,
      exists (select from drive_index_files f where f.drive_id = d.id and f.status = 'pending') as "isPending"
    from drives d left join drive_indexes i on i.drive_id = d.id
    where d.id = ${driveId} and d.owner_id = ${ownerId}`;
  if (!row) return undefined;
  const { isIndexed, ...index } = row;
  return isIndexed ? index : null;
}

/** Ids of chunks, best first. */
export async function selectTextMatches(
  sql: Sql,
  driveId: string,
  text: string,
  limit: number,
): Promise<{ id: number; score: number }[]> {
  return sql<{ id: number; score: number }[]>`select id, score from search_drive_text(${driveId}, ${text}, ${limit})`;
}

/** In the order of the ids; chunks that were deleted meanwhile are left out. */
export async function selectChunks(
  sql: Sql,
  { ownerId, driveId, ids }: { ownerId: string; driveId: string; ids: readonly number[] },
): Promise<FoundChunk[]> {
  const rows = await sql<FoundChunk[]>`
    select c.id, c.path, c.page, c.line_from as "lineFrom", c.line_to as "lineTo", c.heading, c.text
    from drive_chunks c join drives d on d.id = c.drive_id
    where c.id = any(${[...ids]}::bigint[]) and c.drive_id = ${driveId} and d.owner_id = ${ownerId}`;
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

const idsAtOnce = 50_000;

/** Pages travel as hexadecimal digits, which only the thread decodes. */
export function vectorSetOf(
  sql: Sql,
  { driveId, dimensions, generation, version, chunks }: SearchedIndex & { dimensions: number },
): VectorSet {
  return {
    key: `${driveId} ${generation}`,
    version,
    dimensions,
    size: chunks,
    async ids(after) {
      const [row] = await sql<{ ids: string | null }[]>`
        select encode(string_agg(int8send(id), ''::bytea order by id), 'hex') as ids from (
          select id from drive_chunks
          where drive_id = ${driveId} and id > ${after} and generation = ${generation}
            and octet_length(embedding) = ${dimensions * 4}::int
          order by id limit ${idsAtOnce}) page`;
      return row?.ids ?? "";
    },
    async vectors(ids) {
      const [row] = await sql<{ entries: string | null }[]>`
        select encode(string_agg(int8send(id) || embedding, ''::bytea), 'hex') as entries from drive_chunks
        where id = any(${[...ids]}::bigint[]) and drive_id = ${driveId} and generation = ${generation}
          and octet_length(embedding) = ${dimensions * 4}::int`;
      return row?.entries ?? "";
    },
  };
}
