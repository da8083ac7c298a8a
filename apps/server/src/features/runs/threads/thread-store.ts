import type { RunPhase, RunStatus } from "@gantry/wire";
import type { Sql, Transaction } from "../../../engines/database/database.ts";
import type { Micros } from "../../../kernel/money.ts";
import { andOfKeys, ofKeys, type Scope } from "../../accounts/index.ts";
import { hasLiveDescendant } from "../delete-old-runs.ts";
import type { RunError } from "../run.ts";

/** Runs of a thread run one at a time. */
export function threadSequence(userId: string, threadId: string): string {
  return `thread ${userId} ${threadId}`;
}

/** Threads of other users do not match, nor those of other keys if the key is confined. */
const own = (sql: Sql, { userId, onlyKeyIds }: Scope) => sql`
  t.user_id = ${userId} and not t.deleting ${andOfKeys(sql, { onlyKeyIds }, sql`t.key_id`)}`;

/** A sub-agent's run may end after its root, if its node has died. */
const hasLiveRun = (sql: Sql) => sql`(
  exists (select from runs live where live.sequence = 'thread ' || t.user_id || ' ' || t.id and live.completed_at is null)
  or exists (
    select from runs root where root.user_id = t.user_id and root.thread_id = t.id and ${hasLiveDescendant(sql, sql`root.id`)}))`;

export interface Thread {
  id: string;
  agentId: string;
  title: string;
  runs: number;
  lastRunId: string;
  lastStatus: RunStatus;
  createdAt: Date;
  /** When the last run was created, or has ended. */
  updatedAt: Date;
  isLive: boolean;
}

const threadColumns = (sql: Sql) => sql`
  t.id, t.agent_id as "agentId", t.title, t.runs, t.last_run_id as "lastRunId", r.status as "lastStatus",
  t.created_at as "createdAt", greatest(t.updated_at, r.completed_at) as "updatedAt", ${hasLiveRun(sql)} as "isLive"`;

export async function selectThreads(
  sql: Sql,
  scope: Scope,
  { agentId, limit, offset }: { agentId?: string | undefined; limit: number; offset: number },
): Promise<{ entries: Thread[]; total: number }> {
  const chosen = sql`${own(sql, scope)} ${agentId === undefined ? sql`` : sql`and t.agent_id = ${agentId}`}`;
  const [counted] = await sql<{ total: number }[]>`select count(*)::int as total from threads t where ${chosen}`;
  const entries = await sql<Thread[]>`
    with page as materialized (
      select t.* from threads t where ${chosen} order by t.updated_at desc, t.id limit ${limit} offset ${offset}
    )
    select ${threadColumns(sql)} from page t join runs r on r.id = t.last_run_id order by t.updated_at desc, t.id`;
  return { entries, total: counted?.total ?? 0 };
}

export async function findThread(sql: Sql, scope: Scope, id: string): Promise<Thread | undefined> {
  const [thread] = await sql<Thread[]>`
    select ${threadColumns(sql)} from threads t join runs r on r.id = t.last_run_id
    where ${own(sql, scope)} and t.id = ${id}`;
  return thread;
}

/** The thread whose last run is this one. */
export async function findThreadAfter(sql: Sql, scope: Scope, runId: string): Promise<string | undefined> {
  const [thread] = await sql<{ id: string }[]>`
    select t.id from runs r join threads t on t.user_id = r.user_id and t.id = r.thread_id and t.last_run_id = r.id
    where r.id = ${runId} and r.status = 'done' and ${own(sql, scope)}`;
  return thread?.id;
}

export interface Turn {
  runId: string;
  status: RunStatus;
  phase: RunPhase;
  input: Record<string, unknown>;
  output: Record<string, unknown> | null;
  error: RunError | null;
  cost: Micros;
  createdAt: Date;
  completedAt: Date | null;
}

/** The last turns before a run, oldest first: at most so many, and as many bytes, but at least one. */
export async function selectTurns(
  sql: Sql,
  { userId, id }: { userId: string; id: string },
  before: string | undefined,
  most: { turns: number; bytes: number },
): Promise<{ turns: Turn[]; hasMore: boolean }> {
  const rows = await sql<(Turn & { isChosen: boolean })[]>`
    with newest as materialized (
      select r.id, octet_length(r.input::text) + coalesce(octet_length(r.output::text), 0) as bytes from runs r
      where r.user_id = ${userId} and r.thread_id = ${id} ${before === undefined ? sql`` : sql`and r.id < ${before}`}
      order by r.id desc limit ${most.turns + 1}
    ), placed as (
      select n.id, row_number() over older as place, sum(n.bytes) over older - n.bytes as before from newest n
      window older as (order by n.id desc)
    )
    select r.id as "runId", r.status, r.phase, r.cost_micros as cost, r.created_at as "createdAt",
      r.completed_at as "completedAt", r.error, chosen.yes as "isChosen",
      case when chosen.yes then r.input end as input, case when chosen.yes then r.output end as output
    from placed p join runs r on r.id = p.id
    cross join lateral (select p.place <= ${most.turns} and (p.place = 1 or p.before < ${most.bytes}) as yes) chosen
    order by r.id`;
  const turns = rows.filter(({ isChosen }) => isChosen);
  return { turns, hasMore: turns.length < rows.length };
}

export interface JoinedThread {
  agentId: string;
  /** Created with one of the keys, and not by an application: a key that is limited to models sees all turns. */
  isInReach: boolean;
  lastRunId: string;
  deleting: boolean;
  /** Counted up to the bound. */
  liveRuns: number;
}

/** Creates the thread if it does not exist, and locks it. Undefined if it was deleted in this moment. */
export async function lockThread(
  tx: Transaction,
  { userId, id, onlyKeyIds, ...first }: Scope & { id: string; keyId: string; agentId: string; title: string },
  mostLive: number,
): Promise<JoinedThread | undefined> {
  await tx`
    insert into threads (user_id, id, key_id, agent_id, title)
    values (${userId}, ${id}, ${first.keyId}, ${first.agentId}, ${first.title}) on conflict do nothing`;
  const [thread] = await tx<Omit<JoinedThread, "liveRuns">[]>`
    select agent_id as "agentId", last_run_id as "lastRunId", deleting,
      ${onlyKeyIds === null ? tx`true` : ofKeys(tx, onlyKeyIds, tx`threads.key_id`)}
        and (key_id = ${first.keyId} or not exists (
          select from api_keys k where k.id = threads.key_id and k.models is not null)) as "isInReach"
    from threads
    where user_id = ${userId} and id = ${id} for update`;
  if (!thread) return undefined;
  const [live] = await tx<{ n: number }[]>`
    select count(*)::int as n from (
      select from runs where sequence = ${threadSequence(userId, id)} and completed_at is null limit ${mostLive}) r`;
  return { ...thread, liveRuns: live?.n ?? 0 };
}

export async function addToThread(tx: Transaction, userId: string, id: string, runId: string): Promise<void> {
  await tx`
    update threads set runs = runs + 1, last_run_id = ${runId}, updated_at = clock_timestamp()
    where user_id = ${userId} and id = ${id}`;
}

/** For a thread that was created for a run that was not stored. */
export async function deleteEmptyThread(tx: Transaction, userId: string, id: string): Promise<void> {
  await tx`delete from threads where user_id = ${userId} and id = ${id} and runs = 0`;
}

export type Deletion = "marked" | "live" | "not found";

/** Hides a thread without live runs, before its runs are deleted in batches. */
export async function markDeleting(tx: Transaction, scope: Scope, id: string): Promise<Deletion> {
  const locked = await tx`select from threads t where ${own(tx, scope)} and t.id = ${id} for update`;
  if (locked.count === 0) return "not found";
  // A query of its own: while the one above waits for the lock, it does not see the run that is being added.
  const [thread] = await tx<{ isLive: boolean }[]>`
    select ${hasLiveRun(tx)} as "isLive" from threads t where t.user_id = ${scope.userId} and t.id = ${id}`;
  if (thread?.isLive) return "live";
  await tx`update threads set deleting = true where user_id = ${scope.userId} and id = ${id}`;
  return "marked";
}

/** Marks some threads whose last run ended before the moment. */
export async function markExpired(tx: Transaction, endedBefore: Date, limit: number): Promise<void> {
  await tx`
    update threads t set deleting = true from (
      select t.user_id, t.id from threads t join runs r on r.id = t.last_run_id
      where t.updated_at < ${endedBefore} and r.completed_at < ${endedBefore} and not t.deleting and not ${hasLiveRun(tx)}
      order by t.updated_at limit ${limit} for update of t skip locked) old
    where t.user_id = old.user_id and t.id = old.id`;
}

export interface ThreadAddress {
  userId: string;
  id: string;
}

/** Threads that are being deleted. Another node may delete the locked ones. */
export async function lockDeleting(tx: Transaction, only?: ThreadAddress): Promise<ThreadAddress | undefined> {
  const [thread] = await tx<ThreadAddress[]>`
    select user_id as "userId", id from threads where deleting
      ${only ? tx`and user_id = ${only.userId} and id = ${only.id}` : tx``}
    order by user_id, id limit 1 for update ${only ? tx`` : tx`skip locked`}`;
  return thread;
}

export async function selectRunIds(tx: Transaction, { userId, id }: ThreadAddress, limit: number): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from runs where user_id = ${userId} and thread_id = ${id} order by id limit ${limit}`;
  return rows.map((row) => row.id);
}

export async function deleteThreadRow(tx: Transaction, { userId, id }: ThreadAddress): Promise<void> {
  await tx`delete from threads where user_id = ${userId} and id = ${id}`;
}
