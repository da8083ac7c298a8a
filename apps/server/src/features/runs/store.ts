import type { RunPhase, RunStatus } from "@gantry/wire";
import type { Database, Sql, Transaction } from "../../engines/database/database.ts";
import { andOfKeys, type Scope } from "../accounts/index.ts";
import type { Moment } from "../billing/index.ts";
import type { Gone } from "../nodes/index.ts";
import type { Run, RunEvent, Step, StoredCall } from "./run.ts";

export const cancelChannel = "gantry_run_cancel";
export const eventsChannel = "gantry_run_events";
export const endedChannel = "gantry_run_ended";

/** For a row `r` of `runs`. */
export const runColumns = (sql: Sql, input = sql`r.input`) => sql`
  r.id, r.agent_id as "agentId", r.revision_id as "revisionId", r.owner_id as "ownerId", r.user_id as "userId",
  r.key_id as "keyId", r.ancestors, r.status, r.phase, ${input} as input, r.output, r.error, r.max_cost_micros as "maxCost",
  r.timeout_ms as "timeoutMs", r.max_steps as "maxSteps", r.approve, r.connectors, r.base_url as "baseUrl", r.holder,
  r.door, r.followed as "isFollowed", r.source_id as "sourceId", r.sequence, r.thread_id as "threadId",
  r.claim, r.writes, r.deaths, r.parked, r.cancel_requested as "cancelRequested", r.active_ms as "activeMs",
  r.call_id as "callId", r.summing_up as "summingUp", r.cut_before as "cutBefore", r.steps, r.last_event as "lastEvent",
  r.input_tokens as "inputTokens", r.output_tokens as "outputTokens", r.cached_tokens as "cachedTokens",
  r.cache_write_tokens as "cacheWriteTokens",
  r.cost_micros as cost, r.price_micros as price, r.created_at as "createdAt", r.started_at as "startedAt",
  r.completed_at as "completedAt", r.trace`;

export async function findRun(
  sql: Sql,
  id: string,
  { onlyKeyIds }: Pick<Scope, "onlyKeyIds"> = { onlyKeyIds: null },
): Promise<Run | undefined> {
  const [run] = await sql<Run[]>`
    select ${runColumns(sql)} from runs r where r.id = ${id} ${andOfKeys(sql, { onlyKeyIds }, sql`r.key_id`)}`;
  return run;
}

/** Whether one of the runs executes one of the agents, named `agents/creator/slug`. */
export async function isRunOfAny(sql: Sql, runIds: readonly string[], agents: readonly string[]): Promise<boolean> {
  const rows = await sql`
    select from runs where id = any(${[...runIds]}::text[]) and sale_name = any(${[...agents]}::text[]) limit 1`;
  return rows.length > 0;
}

export interface RunFilter {
  agentId?: string | undefined;
  parentId?: string | undefined;
  userId?: string | undefined;
  threadId?: string | undefined;
  /** Only runs that this key started. */
  onlyKeyIds?: Scope["onlyKeyIds"];
  status?: RunStatus | undefined;
  phase?: RunPhase | undefined;
  idPart?: string | undefined;
  createdFrom?: Moment | undefined;
  createdTo?: Moment | undefined;
  onlyRoots?: boolean;
}

/** Conversations may contain images. A page of them would not fit into memory. */
const listedInput = (sql: Sql) => sql`
  case when r.door is null or octet_length(r.input::text) <= 1048576 then r.input
    else json_build_object('input', left(r.input ->> 'input', 10000)) end`;

/** Newest first. Whole rows are read only for the page. */
export async function selectRuns(
  sql: Sql,
  { agentId, parentId, userId, threadId, onlyKeyIds = null, status, phase, onlyRoots = false, ...more }: RunFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ entries: Run[]; total: number }> {
  const chosen = sql`
    from runs r where true
    ${agentId === undefined ? sql`` : sql`and r.agent_id = ${agentId}`}
    ${parentId === undefined ? sql`` : sql`and r.ancestors[cardinality(r.ancestors)] = ${parentId} and cardinality(r.ancestors) > 0`}
    ${onlyRoots ? sql`and cardinality(r.ancestors) = 0` : sql``}
    ${userId === undefined ? sql`` : sql`and r.user_id = ${userId}`}
    ${threadId === undefined ? sql`` : sql`and r.thread_id = ${threadId}`}
    ${andOfKeys(sql, { onlyKeyIds }, sql`r.key_id`)}
    ${status === undefined ? sql`` : sql`and r.status = ${status}`}
    ${phase === undefined ? sql`` : sql`and r.phase = ${phase}`}
    ${more.idPart === undefined ? sql`` : sql`and position(lower(${more.idPart}) in r.id) > 0`}
    ${more.createdFrom === undefined ? sql`` : sql`and r.created_at >= ${more.createdFrom}::text::timestamptz`}
    ${more.createdTo === undefined ? sql`` : sql`and r.created_at <= ${more.createdTo}::text::timestamptz`}`;
  const [counted] = await sql<{ total: number }[]>`select count(*)::int as total ${chosen}`;
  const entries = await sql<Run[]>`
    with page as materialized (
      select r.id ${chosen} order by r.created_at desc, r.id desc limit ${limit} offset ${offset}
    )
    select ${runColumns(sql, listedInput(sql))} from page join runs r on r.id = page.id order by r.created_at desc, r.id desc`;
  return { entries, total: counted?.total ?? 0 };
}

export interface RunPlace {
  id: string;
  /** With microseconds. */
  createdAt: Moment;
}

/** Runs of a user with their descendants, newest first. `last`: where the page before ended. */
export async function selectRunsAfter(
  sql: Sql,
  userId: string,
  last: RunPlace | undefined,
  limit: number,
): Promise<RunPlace[]> {
  const rest = last ? sql`and (created_at, id) < (${last.createdAt}::text::timestamptz, ${last.id})` : sql``;
  return sql<RunPlace[]>`
    select id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "createdAt"
    from runs where user_id = ${userId} ${rest} order by runs.created_at desc, id desc limit ${limit}`;
}

export async function listSteps(sql: Sql, runId: string): Promise<(Step & { predictionId: string })[]> {
  return sql<(Step & { predictionId: string })[]>`
    select n, kind, message, prompt, prediction_id as "predictionId" from run_steps where run_id = ${runId} order by n`;
}

/** Steps after this one. */
export async function listStepsAfter(
  sql: Sql,
  runId: string,
  after: number,
): Promise<Pick<Step, "n" | "kind" | "message">[]> {
  return sql<Pick<Step, "n" | "kind" | "message">[]>`
    select n, kind, message from run_steps where run_id = ${runId} and n > ${after} order by n`;
}

export async function listCalls(sql: Sql, runId: string): Promise<StoredCall[]> {
  return sql<StoredCall[]>`
    select k.step, k.position, k.call_id as "callId", k.tool, k.arguments, k.kind, k.status, k.child_id as "childId",
      k.result, k.is_error as "isError", q.status as answer, q.reason as "answerReason", q.arguments_hash as "answerHash",
      q.details ->> 'tenant' as "shownTenant"
    from run_calls k left join run_confirmations q
      on q.run_id = k.run_id and q.step = k.step and q.position = k.position
    where k.run_id = ${runId} order by k.step, k.position`;
}

export type OpenCall = Pick<StoredCall, "step" | "position" | "kind" | "status">;

/** Calls that have not ended, without their arguments. */
export async function listOpenCalls(sql: Sql, runId: string): Promise<OpenCall[]> {
  return sql<OpenCall[]>`
    select step, position, kind, status from run_calls
    where run_id = ${runId} and status <> 'ended' order by step, position`;
}

/** Bytes of the steps, arguments and results of a run. */
export async function historyBytes(sql: Sql, runId: string): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select (
      select coalesce(sum(octet_length(message::text) + coalesce(octet_length(prompt), 0)), 0)
      from run_steps where run_id = ${runId}
    ) + (
      select coalesce(sum(octet_length(arguments::text) + coalesce(octet_length(result), 0)), 0)
      from run_calls where run_id = ${runId}
    ) as bytes`;
  return row?.bytes ?? 0;
}

export async function listEvents(sql: Sql, runId: string, after: number, limit: number): Promise<RunEvent[]> {
  return sql<RunEvent[]>`
    select n, type, data, created_at as "createdAt" from run_events
    where run_id = ${runId} and n > ${after} order by n limit ${limit}`;
}

/** Turns on notifications for new events of the run. */
export async function markFollowed(sql: Sql, runId: string): Promise<void> {
  await sql`
    update runs set followed = true where id = ${runId} and not followed and status in ('pending', 'running')`;
}

// Claims.

/** At most `wanted` runs, and at most `spare` of users who already have a claimed run; see sql/claim-runs.sql. */
export async function claimRuns(
  sql: Sql,
  nodeId: string,
  { wanted, spare }: { wanted: number; spare: number },
): Promise<Run[]> {
  return sql<Run[]>`
    select ${runColumns(sql)} from claim_runs(${nodeId}, ${wanted}, ${spare}) r`;
}

export async function releaseRunsOf(sql: Sql, deadNode: string): Promise<number> {
  const [row] = await sql<{ n: number }[]>`select release_runs(${deadNode}) as n`;
  return row?.n ?? 0;
}

export async function listDeadNodes(sql: Sql, gone: Gone): Promise<string[]> {
  const rows = await sql<{ holder: string }[]>`
    select distinct r.holder from runs r where r.holder is not null and ${gone(sql, sql`r.holder`)}`;
  return rows.map((row) => row.holder);
}

export interface RunClaim {
  id: string;
  claim: number;
  cancelRequested: boolean;
}

/** Claims of a node according to the database. */
export async function listClaims(sql: Sql, nodeId: string): Promise<RunClaim[]> {
  return sql<RunClaim[]>`
    select id, claim, cancel_requested as "cancelRequested" from runs where holder = ${nodeId}`;
}

/** Releases a claim without a session. A failed attempt counts as a death, so that the run ends eventually. */
export async function releaseRun(
  sql: Sql,
  { id, claim }: Pick<RunClaim, "id" | "claim">,
  wasTried: boolean,
): Promise<void> {
  await sql`
    update runs set holder = null, claim = claim + 1, deaths = deaths + ${wasTried ? 1 : 0}
    where id = ${id} and claim = ${claim} and holder is not null`;
}

/** Also runs that wait for others: a claim decides, and looks at a bounded number. */
export async function hasUnclaimedRun(sql: Sql): Promise<boolean> {
  const rows = await sql`
    select 1 from runs r where r.holder is null and not r.parked and r.status in ('pending', 'running') limit 1`;
  return rows.length > 0;
}

export async function listLiveRoots(sql: Sql, userId: string, limit: number): Promise<Run[]> {
  return sql<Run[]>`
    select ${runColumns(sql)} from runs r
    where r.user_id = ${userId} and cardinality(r.ancestors) = 0 and r.status in ('pending', 'running') limit ${limit}`;
}

/** A run and its descendants. The condition on the root uses the index. */
const treeOf = (sql: Sql, runId: string) => sql`
  id in (
    select ${runId} union all
    select id from runs where cardinality(ancestors) > 0 and ${runId} = any (ancestors)
      and ancestors[1] = coalesce((select ancestors[1] from runs where id = ${runId}), ${runId}))`;

export async function hasLiveDescendants(sql: Sql, runId: string): Promise<boolean> {
  const rows = await sql`
    select 1 from runs where ${treeOf(sql, runId)} and id <> ${runId} and status in ('pending', 'running') limit 1`;
  return rows.length > 0;
}

export async function listEndingDescendants(
  sql: Sql,
  runId: string,
): Promise<Pick<Run, "id" | "ancestors" | "claim" | "holder" | "writes">[]> {
  return sql<Pick<Run, "id" | "ancestors" | "claim" | "holder" | "writes">[]>`
    select id, ancestors, claim, holder, writes from runs
    where ${treeOf(sql, runId)} and id <> ${runId} and status in ('pending', 'running') and cancel_requested
    order by id`;
}

/** For a run and its descendants. */
export async function requestCancel(database: Database, runId: string): Promise<void> {
  await database.transaction((tx) => cancelAll(tx, treeOf(tx, runId)));
}

/** False if the run has another claim: then nothing is cancelled. */
export async function requestCancelOfDescendants(
  database: Database,
  { id, claim }: Pick<Run, "id" | "claim">,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const own = await tx`select 1 from runs where id = ${id} and claim = ${claim} and status = 'running' for update`;
    if (own.length > 0) await cancelAll(tx, tx`${treeOf(tx, id)} and id <> ${id}`);
    return own.length > 0;
  });
}

async function cancelAll(tx: Transaction, chosen: ReturnType<typeof treeOf>): Promise<void> {
  await tx`select 1 from runs where ${chosen} order by cardinality(ancestors), id for update`;
  await tx`
    update runs set cancel_requested = true, parked = false where ${chosen} and status in ('pending', 'running')`;
  await tx`
    select pg_notify(${cancelChannel}, id) from runs where ${chosen} and cancel_requested and holder is not null`;
}
