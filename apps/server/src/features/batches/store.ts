import type { Sql, Transaction } from "../../engines/database/database.ts";
import { firstIdAt } from "../../kernel/first-id-at.ts";
import { andOfKeys, type Scope } from "../accounts/index.ts";
import type { Batch } from "./batch.ts";

/** For a row `b` of `batches`. */
export const batchColumns = (sql: Sql) => sql`
  b.id, b.user_id as "userId", b.key_id as "keyId", b.endpoint, b.input_file_id as "inputFileId", b.metadata,
  b.base_url as "baseUrl", b.keep_inputs as "keepsInputs", b.status, b.errors, b.total, b.completed, b.failed,
  b.output_file_id as "outputFileId", b.error_file_id as "errorFileId", b.created_at as "createdAt",
  b.in_progress_at as "inProgressAt", b.expires_at as "expiresAt", b.finalizing_at as "finalizingAt",
  b.cancelling_at as "cancellingAt", b.ended_at as "endedAt"`;

/** A key limited to models sees the batches that it created, and a member of a team its own. */
const inScope = (sql: Sql, { userId, onlyKeyIds }: Scope) => sql`
  b.user_id = ${userId} ${andOfKeys(sql, { onlyKeyIds }, sql`b.key_id`)}`;

export type NewBatch = Pick<
  Batch,
  "id" | "userId" | "keyId" | "endpoint" | "inputFileId" | "metadata" | "baseUrl" | "keepsInputs"
>;

/** Undefined if the user has `most` batches under way. The lock keeps two requests from both counting the same. */
export async function insertBatch(
  tx: Transaction,
  row: NewBatch,
  { most, windowSeconds }: { most: number; windowSeconds: number },
): Promise<Batch | undefined> {
  await tx`select pg_advisory_xact_lock(hashtext(${`gantry.batches.${row.userId}`}))`;
  const metadata = row.metadata === null ? null : JSON.stringify(row.metadata);
  const [made] = await tx<Batch[]>`
    insert into batches as b (id, user_id, key_id, endpoint, input_file_id, metadata, base_url, keep_inputs, expires_at)
    select ${row.id}, ${row.userId}, ${row.keyId}, ${row.endpoint}, ${row.inputFileId}, ${metadata}::text::json,
      ${row.baseUrl}, ${row.keepsInputs}, clock_timestamp() + make_interval(secs => ${windowSeconds})
    where (select count(*) from batches where user_id = ${row.userId} and ended_at is null) < ${most}
    returning ${batchColumns(tx)}`;
  return made;
}

export async function findBatch(sql: Sql, scope: Scope, id: string): Promise<Batch | undefined> {
  const [row] = await sql<Batch[]>`
    select ${batchColumns(sql)} from batches b where b.id = ${id} and ${inScope(sql, scope)}`;
  return row;
}

/** Newest first. `after`: the id of the last batch of the page before. */
export async function listBatches(
  sql: Sql,
  scope: Scope,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<Batch[]> {
  return sql<Batch[]>`
    select ${batchColumns(sql)} from batches b
    where ${inScope(sql, scope)} ${after === undefined ? sql`` : sql`and b.id < ${after}`}
    order by b.id desc limit ${limit}`;
}

export interface BatchLine {
  line: number;
  customId: string;
  predictionId: string;
  /** Of the answer; null until it ends. */
  status: number | null;
}

/** In the order of the input file. `after`: the last line of the page before. */
export async function selectLinesAfter(sql: Sql, batchId: string, after: number, limit: number): Promise<BatchLine[]> {
  return sql<BatchLine[]>`
    select line, custom_id as "customId", prediction_id as "predictionId", status from batch_lines
    where batch_id = ${batchId} and line > ${after} order by line limit ${limit}`;
}

/** The node that works on the batch cancels its predictions. Undefined if the batch is past that. */
export async function askToCancel(sql: Sql, scope: Scope, id: string): Promise<Batch | undefined> {
  const [row] = await sql<Batch[]>`
    update batches b set status = 'cancelling', cancelling_at = clock_timestamp(), stop_code = 'batch_cancelled'
    where b.id = ${id} and b.status in ('validating', 'in_progress') and ${inScope(sql, scope)}
    returning ${batchColumns(sql)}`;
  return row;
}

/** The batch that a prediction is a line of, for the predictions of a page. */
export async function batchesOf(sql: Sql, predictionIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (predictionIds.length === 0) return new Map();
  const rows = await sql<{ predictionId: string; batchId: string }[]>`
    select prediction_id as "predictionId", batch_id as "batchId" from batch_lines
    where prediction_id = any(${[...predictionIds]}::text[])`;
  return new Map(rows.map(({ predictionId, batchId }) => [predictionId, batchId]));
}

/** Ids begin with the time of creation, so the primary key finds the old ones. */
export async function selectOldBatches(
  sql: Sql,
  before: Date,
  limit: number,
): Promise<{ id: string; userId: string }[]> {
  return sql<{ id: string; userId: string }[]>`
    select id, user_id as "userId" from batches where id < ${firstIdAt("batch", before)} and ended_at < ${before}
    order by id limit ${limit}`;
}

/** With its lines. */
export async function deleteBatch(sql: Sql, id: string): Promise<void> {
  await sql`delete from batches where id = ${id} and ended_at is not null`;
}
