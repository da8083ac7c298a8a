import { isId } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { firstIdAt, timeOfId } from "../../kernel/first-id-at.ts";
import type { Scope } from "../accounts/index.ts";
import { type FileOrigin, inScope } from "./store.ts";

export interface FileEntry {
  id: string;
  key: string;
  origin: FileOrigin;
  contentType: string | null;
  size: number | null;
  predictionId: string | null;
  /** Of the prediction, while its result is kept. */
  modelName: string | null;
  /** The beginning of its prompt, if the input was kept. */
  prompt: string | null;
  createdAt: Date;
  storedAt: Date | null;
}

export interface FileFilter {
  /** Part of the file name or of the prompt, or an id. */
  q?: string | undefined;
  origin?: FileOrigin | undefined;
  /** Only older files than the one with this id. */
  before?: string | undefined;
  /** Ends of the time of creation. Both are included. */
  from?: Date | undefined;
  to?: Date | undefined;
}

/** A search reads texts, so it reads at most this many files: the newest of the range. */
const mostSearched = 50_000;

/** The input of a run's caller is not shown to the creator who paid for the call. */
const promptOf = (sql: Sql) => sql`case when e.actor_id is null then e.request ->> 'preview' end`;

const within = (sql: Sql, scope: Scope, { before, from, to }: FileFilter) => sql`
  ${inScope(sql, scope)} ${before === undefined ? sql`` : sql`and f.id < ${before}`}
  ${from === undefined ? sql`` : sql`and f.id >= ${firstIdAt("file", from)}`}
  ${to === undefined ? sql`` : sql`and f.id < ${firstIdAt("file", new Date(to.getTime() + 1))}`}`;

const isSearch = ({ q }: FileFilter) => q !== undefined && !isId("file", q) && !isId("prediction", q);

/** The files among which the filter looks. */
const candidates = (sql: Sql, scope: Scope, filter: FileFilter) => sql`(
  select * from files f where ${within(sql, scope, filter)} ${
    isSearch(filter) ? sql`order by f.id desc limit ${mostSearched}` : sql``
  })`;

const matches = (sql: Sql, filter: FileFilter) => {
  const { q, origin } = filter;
  return sql`
    ${origin === undefined ? sql`true` : sql`f.origin = ${origin}`} ${
      q === undefined
        ? sql``
        : isSearch(filter)
          ? sql`and (strpos(lower(split_part(f.key, '/', -1)), lower(${q})) > 0 or exists (
              select 1 from ended_predictions e
              where e.id = f.prediction_id and e.user_id = f.owner_id and strpos(lower(${promptOf(sql)}), lower(${q})) > 0))`
          : sql`and ${isId("file", q) ? sql`f.id` : sql`f.prediction_id`} = ${q}`
    }`;
};

/** Newest first. Whole rows are read for the page only. */
export async function selectFiles(
  sql: Sql,
  scope: Scope,
  filter: FileFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<FileEntry[]> {
  return sql<FileEntry[]>`
    with page as materialized (
      select f.id from ${candidates(sql, scope, filter)} f where ${matches(sql, filter)}
      order by f.id desc limit ${limit} offset ${offset}
    )
    select f.id, f.key, f.origin, f.content_type as "contentType", f.size, f.prediction_id as "predictionId",
      e.model_name as "modelName", ${promptOf(sql)} as prompt, f.created_at as "createdAt", f.stored_at as "storedAt"
    from page join files f on f.id = page.id
      left join ended_predictions e on e.id = f.prediction_id and e.user_id = f.owner_id
    order by f.id desc`;
}

interface FileCount {
  total: number;
  /** Set if a search did not read older files of the range. */
  searchedFrom: Date | null;
}

export async function countFiles(sql: Sql, scope: Scope, filter: FileFilter): Promise<FileCount> {
  if (!isSearch(filter)) {
    const [row] = await sql<[{ total: number }]>`
      select count(*)::integer as total from ${candidates(sql, scope, filter)} f where ${matches(sql, filter)}`;
    return { ...row, searchedFrom: null };
  }
  const [{ total, searched, oldest }] = await sql<[{ total: number; searched: number; oldest: string | null }]>`
    select (count(*) filter (where ${matches(sql, filter)}))::integer as total, count(*)::integer as searched,
      min(f.id) as oldest
    from ${candidates(sql, scope, filter)} f`;
  return { total, searchedFrom: searched === mostSearched && oldest !== null ? timeOfId(oldest) : null };
}
