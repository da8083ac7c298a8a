import type { Sql } from "../../engines/database/database.ts";
import { firstIdAt } from "../../kernel/first-id-at.ts";
import { andOfKeys, type Scope } from "../accounts/index.ts";
import { countStored } from "../files/index.ts";
import { type Item, type NewTurn, responseIdOf, type StoredTurn, type TurnEnd } from "./response.ts";

/** Turns of other users do not match, nor those of other keys if the key is confined. */
const own = (sql: Sql, { userId, onlyKeyIds }: Scope) => sql`
  r.user_id = ${userId} ${andOfKeys(sql, { onlyKeyIds }, sql`r.key_id`)}`;

const json = (value: unknown) => (value === null ? null : JSON.stringify(value));

/** Has no effect if the turn is stored already: a repeated request writes the same turn. */
export async function insertTurn(sql: Sql, owner: { userId: string; keyId: string }, turn: NewTurn): Promise<void> {
  const [request, input, output] = [turn.request, turn.input, turn.output].map((part) => JSON.stringify(part)) as [
    string,
    string,
    string,
  ];
  await sql`
    with stored as (
    insert into responses (id, user_id, key_id, model_name, prediction_id, run_id, endpoint_id, previous_id, status, request,
      input, output, usage, error, incomplete_details, bytes, request_bytes, created_at, ended_at)
    values (${turn.id}, ${owner.userId}, ${owner.keyId}, ${turn.modelName}, ${turn.predictionId}, ${turn.runId ?? null},
      ${turn.endpointId ?? null}, ${turn.previousId}, ${turn.status}, ${request}::text::json,
      ${input}::text::json, ${output}::text::json, ${json(turn.usage)}::text::json, ${json(turn.error)}::text::json,
      ${json(turn.incompleteDetails)}::text::json, ${bytesOf(input, output)}, ${bytesOf(request)}, ${turn.createdAt}, ${turn.endedAt})
    on conflict (id) do nothing
    returning user_id as owner_id, bytes + request_bytes as more
    ) ${counting(sql, sql`stored`)}`;
}

/** Stored turns count towards the user's storage quota. `changes` has `owner_id` and `more`. */
const counting = (sql: Sql, changes: ReturnType<Sql>) => countStored(sql, sql`select owner_id, more from ${changes}`);

/** Completes a background turn, once. */
export async function endTurn(sql: Sql, id: string, end: TurnEnd, endedAt: Date): Promise<void> {
  const output = JSON.stringify(end.output);
  await sql`
    with stored as (
    update responses set status = ${end.status}, output = ${output}::text::json, usage = ${json(end.usage)}::text::json,
      error = ${json(end.error)}::text::json, incomplete_details = ${json(end.incompleteDetails)}::text::json,
      bytes = bytes + ${Buffer.byteLength(output)}, ended_at = ${endedAt}
    where id = ${id} and status = 'queued'
    returning user_id as owner_id, new.bytes - old.bytes as more
    ) ${counting(sql, sql`stored`)}`;
}

function bytesOf(...texts: string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

const turnColumns = (sql: Sql) => sql`
  r.id, r.model_name as "modelName", r.prediction_id as "predictionId", r.run_id as "runId", r.endpoint_id as "endpointId",
  r.previous_id as "previousId", r.status, r.request, r.output, r.usage, r.error,
  r.incomplete_details as "incompleteDetails", r.created_at as "createdAt", r.ended_at as "endedAt"`;

export async function findTurn(sql: Sql, scope: Scope, id: string): Promise<StoredTurn | undefined> {
  const [row] = await sql<StoredTurn[]>`
    select ${turnColumns(sql)} from responses r where r.id = ${id} and ${own(sql, scope)}`;
  return row;
}

export async function findInput(sql: Sql, scope: Scope, id: string): Promise<Item[] | undefined> {
  const [row] = await sql<{ input: Item[] }[]>`
    select r.input from responses r where r.id = ${id} and ${own(sql, scope)}`;
  return row?.input;
}

/** With its input, newest first. `before`: the last id of the page before. */
export async function selectTurns(
  sql: Sql,
  userId: string,
  before: string | undefined,
  limit: number,
): Promise<(StoredTurn & { input: Item[] })[]> {
  return sql<(StoredTurn & { input: Item[] })[]>`
    select ${turnColumns(sql)}, r.input from responses r
    where r.user_id = ${userId} ${before === undefined ? sql`` : sql`and r.id < ${before}`}
    order by r.id desc limit ${limit}`;
}

export async function deleteTurn(sql: Sql, scope: Scope, id: string): Promise<boolean> {
  const rows = await sql`
    with gone as (
      delete from responses r where r.id = ${id} and ${own(sql, scope)} returning user_id as owner_id, -bytes - request_bytes as more
    ), counted as (${counting(sql, sql`gone`)})
    select 1 from gone`;
  return rows.length > 0;
}

/** Deletes the turn that a prediction answered, if it is stored. */
export async function deleteTurnsOf(sql: Sql, userId: string, predictionId: string): Promise<void> {
  await deleteTurn(sql, { userId, onlyKeyIds: null }, responseIdOf(predictionId));
}

/** Deletes the turns that runs answered. */
export async function deleteTurnsOfRuns(sql: Sql, userId: string, runIds: readonly string[]): Promise<void> {
  await sql`
    with gone as (
      delete from responses r where r.id = any(${runIds.map(responseIdOf)}::text[]) and r.user_id = ${userId}
      returning user_id as owner_id, -bytes - request_bytes as more
    ) ${counting(sql, sql`gone`)}`;
}

export interface ChainLink {
  id: string;
  previousId: string | null;
  status: string;
  bytes: number;
}

/** The turns from this one back to the first, newest first, without their contents. Stops behind either bound. */
export async function selectChain(
  sql: Sql,
  scope: Scope,
  id: string,
  most: { turns: number; bytes: number },
): Promise<ChainLink[]> {
  return sql<ChainLink[]>`
    with recursive chain as (
      select r.id, r.previous_id, r.status, r.bytes, 1 as n, r.bytes::bigint as total
      from responses r where r.id = ${id} and ${own(sql, scope)}
      union all
      select r.id, r.previous_id, r.status, r.bytes, c.n + 1, c.total + r.bytes
      from chain c join responses r on r.id = c.previous_id
      where c.n <= ${most.turns} and c.total <= ${most.bytes} and ${own(sql, scope)}
    )
    select id, previous_id as "previousId", status, bytes from chain order by n`;
}

export interface TurnItems {
  id: string;
  input: Item[];
  output: Item[];
}

export async function selectItems(sql: Sql, scope: Scope, ids: readonly string[]): Promise<Map<string, TurnItems>> {
  const rows = await sql<TurnItems[]>`
    select r.id, r.input, r.output from responses r where r.id = any(${[...ids]}::text[]) and ${own(sql, scope)}`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** Turns that exist, by id, without their contents. */
export async function selectLinks(
  sql: Sql,
  scope: Scope,
  ids: readonly string[],
): Promise<(ChainLink & Pick<StoredTurn, "runId">)[]> {
  return sql<(ChainLink & Pick<StoredTurn, "runId">)[]>`
    select r.id, r.previous_id as "previousId", r.status, r.bytes, r.run_id as "runId" from responses r
    where r.id = any(${[...ids]}::text[]) and ${own(sql, scope)}`;
}

/** Ids begin with the time of creation, so the primary key finds the old ones. */
export async function deleteOldResponses(sql: Sql, before: Date, limit: number): Promise<number> {
  const rows = await sql`
    with gone as (
    delete from responses where id = any(array(
      select id from responses where id < ${firstIdAt("resp", before)} and coalesce(ended_at, created_at) < ${before}
        and not exists (select 1 from live_predictions l where l.id = prediction_id)
      order by id limit ${limit} for update skip locked))
    returning user_id as owner_id, -bytes - request_bytes as more
    ), counted as (${counting(sql, sql`gone`)})
    select 1 from gone`;
  return rows.length;
}
