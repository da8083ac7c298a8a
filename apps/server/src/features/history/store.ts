import type { Sql } from "../../engines/database/database.ts";
import type { Issue } from "../../kernel/errors.ts";
import { andOfKeys, type Scope } from "../accounts/index.ts";
import type { PredictionRow, ShownPrediction } from "./prediction.ts";

/** What results add to the usage of a listed prediction. */
export interface EndedDetail {
  id: string;
  createdAt: Date;
  startedAt: Date | null;
  preview: string | null;
  /** The beginning of the output's JSON. */
  outputHead: string | null;
}

/** Long enough for a preview after any field name. */
const headChars = 4_000;

/** Contents of model calls belong to their runs. */
export async function selectDetails(sql: Sql, ids: readonly string[]): Promise<Map<string, EndedDetail>> {
  const rows = await sql<EndedDetail[]>`
    select id, created_at as "createdAt", started_at as "startedAt",
      case when route <> 'agent' then request ->> 'preview' end as preview,
      case when route <> 'agent' and door is distinct from 'openai-embeddings'
        then left(output::text, ${headChars}) end as "outputHead"
    from ended_predictions where id = any (${ids as string[]}::text[])
    union all
    select id, created_at, started_at, null, null from deleted_predictions where id = any (${ids as string[]}::text[])`;
  return new Map(rows.map((row) => [row.id, row]));
}

export interface FirstFile {
  predictionId: string;
  key: string;
  contentType: string;
}

/** The first output of each prediction. Outputs of another user's run belong to that user. */
export async function selectFirstFiles(
  sql: Sql,
  userId: string,
  ids: readonly string[],
): Promise<Map<string, FirstFile>> {
  const rows = await sql<FirstFile[]>`
    select distinct on (prediction_id) prediction_id as "predictionId", key, content_type as "contentType" from files
    where prediction_id = any (${ids as string[]}::text[]) and owner_id = ${userId} and state = 'stored'
    order by prediction_id, id`;
  return new Map(rows.map((row) => [row.predictionId, row]));
}

interface Named {
  id: string;
  name: string;
}

/** Revoked keys too. */
export async function selectKeyNames(sql: Sql, ids: readonly string[]): Promise<Map<string, Named>> {
  const rows = await sql<Named[]>`select id, name from api_keys where id = any (${ids as string[]}::text[])`;
  return new Map(rows.map((row) => [row.id, row]));
}

export interface EndedRow extends PredictionRow {
  input: Record<string, unknown> | null;
  request: {
    id?: string;
    trace?: string;
    keeps?: boolean;
    truncated?: boolean;
    preview?: string;
    deleted?: boolean;
  } | null;
  output: Record<string, unknown> | null;
  error: (Issue & { retryable?: boolean })[] | null;
  said: { claim: number; field: string; fragment: string }[] | null;
  streamDetails: Record<string, unknown> | null;
}

export async function findEndedRow(sql: Sql, scope: Scope, id: string): Promise<EndedRow | undefined> {
  const [row] = await sql<EndedRow[]>`
    select id, model_name as "modelName", route, status, created_at as "createdAt", started_at as "startedAt",
      to_char(ended_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "endedAt", inference_ms as "inferenceMs",
      input_tokens as "inputTokens", output_tokens as "outputTokens", cached_tokens as "cachedTokens",
      cache_write_tokens as "cacheWriteTokens", price_micros as price, 0::bigint as reserved, door, backend,
      key_id as "keyId", run_id as "runId", input, request, output, error, said, stream_details as "streamDetails"
    from ended_predictions where id = ${id} and ${inScope(sql, scope)}`;
  return row;
}

export interface DeletedMark {
  requestId: string | null;
  createdAt: Date;
  startedAt: Date | null;
}

export async function findDeletedMark(sql: Sql, scope: Scope, id: string): Promise<DeletedMark | undefined> {
  const [row] = await sql<DeletedMark[]>`
    select request_id as "requestId", created_at as "createdAt", started_at as "startedAt"
    from deleted_predictions where id = ${id} and ${inScope(sql, scope)}`;
  return row;
}

export const inScope = (sql: Sql, { userId, onlyKeyIds }: Scope) => sql`
  user_id = ${userId} ${andOfKeys(sql, { onlyKeyIds }, sql`key_id`)}`;

export async function findWebhook(sql: Sql, userId: string, id: string): Promise<ShownPrediction["webhook"]> {
  const [row] = await sql<NonNullable<ShownPrediction["webhook"]>[]>`
    select id, status from webhook_deliveries where prediction_id = ${id} and user_id = ${userId}`;
  return row ?? null;
}
