import type { Sql } from "../../engines/database/database.ts";
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
}

/** The input of a run's caller is not shown to the creator who paid for the call. */
const promptOf = (sql: Sql) => sql`case when e.actor_id is null then e.request ->> 'preview' end`;

const matching = (sql: Sql, scope: Scope, { q, origin, before }: FileFilter) => sql`
  ${inScope(sql, scope)} ${before === undefined ? sql`` : sql`and f.id < ${before}`}
  ${origin === undefined ? sql`` : sql`and f.origin = ${origin}`} ${
    q === undefined
      ? sql``
      : sql`and (strpos(lower(split_part(f.key, '/', -1)), lower(${q})) > 0 or f.id = ${q} or f.prediction_id = ${q}
          or exists (select 1 from ended_predictions e
            where e.id = f.prediction_id and e.user_id = f.owner_id and strpos(lower(${promptOf(sql)}), lower(${q})) > 0))`
  }`;

/** Newest first. Whole rows are read for the page only. */
export async function selectFiles(
  sql: Sql,
  scope: Scope,
  filter: FileFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<FileEntry[]> {
  return sql<FileEntry[]>`
    with page as materialized (
      select f.id from files f where ${matching(sql, scope, filter)} order by f.id desc limit ${limit} offset ${offset}
    )
    select f.id, f.key, f.origin, f.content_type as "contentType", f.size, f.prediction_id as "predictionId",
      e.model_name as "modelName", ${promptOf(sql)} as prompt, f.created_at as "createdAt", f.stored_at as "storedAt"
    from page join files f on f.id = page.id
      left join ended_predictions e on e.id = f.prediction_id and e.user_id = f.owner_id
    order by f.id desc`;
}

export async function countFiles(sql: Sql, scope: Scope, filter: FileFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::integer as total from files f where ${matching(sql, scope, filter)}`;
  return row?.total ?? 0;
}
