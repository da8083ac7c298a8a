import type { Sql } from "../../engines/database/database.ts";
import type { StoredIssue, StoredOutput } from "../predictions/index.ts";
import type { BatchStatus, FedLine, StopCode } from "./batch.ts";
import type { Claim } from "./claim-store.ts";

const own = (sql: Sql, { id, claim }: Claim) => sql`
  select id from batches where id = ${id} and claim = ${claim} and ended_at is null for update`;

export interface Progress {
  status: BatchStatus;
  stopCode: StopCode | null;
  completed: number;
  failed: number;
  /** Lines that have not ended. */
  open: number;
  /** Lines that have just ended. */
  ended: number;
  isExpired: boolean;
  secondsLeft: number;
}

/** A line whose result was deleted before it was counted. */
const deletedStatus = 410;

/** Counts the lines whose predictions have ended, and renews the claim. Undefined if the claim was lost. */
export async function countEnded(sql: Sql, claim: Claim, leaseMs: number): Promise<Progress | undefined> {
  const [row] = await sql<Progress[]>`
    with own as (${own(sql, claim)}), over as (
      select l.line, e.status from own cross join lateral (
        select o.line, o.prediction_id from batch_lines o where o.batch_id = own.id and o.status is null offset 0
      ) l cross join lateral (
        -- Keeps the planner from reading all results.
        select p.status from ended_predictions p where p.id = l.prediction_id
        union all select ${deletedStatus}::smallint from deleted_predictions p where p.id = l.prediction_id offset 0
      ) e
    ), ended as (
      update batch_lines l set status = o.status from own, over o where l.batch_id = own.id and l.line = o.line
      returning l.status
    ), counted as (
      select count(*) filter (where status = 200)::int as completed, count(*) filter (where status <> 200)::int as failed
      from ended
    )
    update batches b set completed = b.completed + c.completed, failed = b.failed + c.failed,
      leased_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    from own, counted c where b.id = own.id
    returning b.status, b.stop_code as "stopCode", b.completed, b.failed, c.completed + c.failed as ended,
      (select count(*) from batch_lines l where l.batch_id = b.id and l.status is null)::int - c.completed - c.failed
        as open,
      clock_timestamp() >= b.expires_at as "isExpired",
      greatest(0, extract(epoch from b.expires_at - clock_timestamp()))::int as "secondsLeft"`;
  return row;
}

export interface NewLine extends FedLine {
  asked: Record<string, unknown>;
}

/** Written before the predictions. False if the batch is being cancelled, or the claim was lost. */
export async function insertLines(
  sql: Sql,
  claim: Claim,
  lines: readonly NewLine[],
  next: { line: number; byte: number },
): Promise<boolean> {
  const { count } = await sql`
    with own as (
      update batches set next_line = ${next.line}, next_byte = ${next.byte}
      where id = ${claim.id} and claim = ${claim.claim} and status = 'in_progress' and stop_code is null returning id
    )
    insert into batch_lines (batch_id, line, custom_id, prediction_id, start_byte, bytes, asked)
    select own.id, x.line, x.custom_id, x.prediction_id, x.start_byte, x.bytes, x.asked::json
    from own, unnest(${lines.map((one) => one.line)}::int[], ${lines.map((one) => one.customId)}::text[],
      ${lines.map((one) => one.predictionId)}::text[], ${lines.map((one) => one.startByte)}::bigint[],
      ${lines.map((one) => one.bytes)}::int[], ${lines.map((one) => JSON.stringify(one.asked))}::text[])
      as x (line, custom_id, prediction_id, start_byte, bytes, asked)`;
  return count > 0;
}

/** Open lines whose prediction was never accepted. */
export async function selectUnfed(sql: Sql, batchId: string): Promise<FedLine[]> {
  return sql<FedLine[]>`
    select l.line, l.custom_id as "customId", l.prediction_id as "predictionId", l.start_byte as "startByte", l.bytes
    from batch_lines l
    where l.batch_id = ${batchId} and l.status is null
      and not exists (select 1 from live_predictions p where p.id = l.prediction_id offset 0)
      and not exists (select 1 from ended_predictions p where p.id = l.prediction_id offset 0)
      and not exists (select 1 from deleted_predictions p where p.id = l.prediction_id offset 0)
    order by l.line`;
}

/** The model names are part of the addresses of predictions. */
export async function selectLive(sql: Sql, batchId: string): Promise<{ id: string; modelName: string }[]> {
  return sql<{ id: string; modelName: string }[]>`
    select p.id, p.model_name as "modelName" from batch_lines l cross join lateral (
      select o.id, o.model_name from live_predictions o where o.id = l.prediction_id offset 0
    ) p
    where l.batch_id = ${batchId} and l.status is null`;
}

/** A line whose request was refused. */
export async function refuseLine(
  sql: Sql,
  claim: Claim,
  { line, status, body }: { line: number; status: number; body: Record<string, unknown> },
): Promise<void> {
  await sql`
    with own as (${own(sql, claim)}), refused as (
      update batch_lines l set status = ${status}, refusal = ${JSON.stringify(body)}::text::json
      from own where l.batch_id = own.id and l.line = ${line} and l.status is null returning 1
    )
    update batches b set failed = b.failed + (select count(*)::int from refused) from own where b.id = own.id`;
}

/** Lines that will not run: their prediction was never accepted, or its result is gone. */
export async function giveUpLines(sql: Sql, claim: Claim): Promise<void> {
  await sql`
    with own as (${own(sql, claim)}), given as (
      update batch_lines l set status = 0 from own
      where l.batch_id = own.id and l.status is null
        and not exists (select 1 from live_predictions p where p.id = l.prediction_id offset 0)
        and not exists (select 1 from ended_predictions p where p.id = l.prediction_id offset 0)
      returning 1
    )
    update batches b set failed = b.failed + (select count(*)::int from given) from own where b.id = own.id`;
}

/** Whether the balance or the budgets of a key refuse lines only for money that is reserved and may return. */
export async function mayBeCovered(sql: Sql, { userId, keyId }: { userId: string; keyId: string }): Promise<boolean> {
  const rows = await sql`
    select 1 from wallets where user_id = ${userId} and balance_micros >= 0 and balance_micros < reserved_micros
    union all
    select 1 from api_keys k
    left join key_months m on m.key_id in (k.id, k.parent_id) and m.month = date_trunc('month', now() at time zone 'UTC')::date
    left join key_days d on d.key_id in (k.id, k.parent_id) and d.day = (now() at time zone 'UTC')::date
    where k.id = ${keyId} and (m.reserved_micros > 0 or d.reserved_micros > 0)`;
  return rows.length > 0;
}

export interface EndedLine {
  line: number;
  customId: string;
  predictionId: string;
  asked: Record<string, unknown>;
  status: number;
  refusal: Record<string, unknown> | null;
  output: StoredOutput | null;
  error: StoredIssue[] | null;
  streamDetails: Record<string, unknown> | null;
  createdAt: Date | null;
}

/** Lines that have succeeded, or that have not, in the order of the file. */
export async function selectEnded(
  sql: Sql,
  batchId: string,
  { after, limit, isDone, also = [] }: { after: number; limit: number; isDone: boolean; also?: readonly number[] },
): Promise<EndedLine[]> {
  return sql<EndedLine[]>`
    select l.line, l.custom_id as "customId", l.prediction_id as "predictionId", l.asked, l.status, l.refusal, e.output,
      e.error, e.stream_details as "streamDetails", e.created_at as "createdAt"
    from (
      select * from batch_lines o
      where o.batch_id = ${batchId} and o.line > ${after} and o.status is not null
        and ((o.status = 200) = ${isDone} or o.line = any(${[...also]}::int[]))
      order by o.line limit ${limit}
    ) l left join lateral (select * from ended_predictions p where p.id = l.prediction_id offset 0) e on true
    order by l.line`;
}
