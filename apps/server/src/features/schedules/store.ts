import type { Part, Sql, Transaction } from "../../engines/database/database.ts";
import { andOfKeys, type Page, type Scope } from "../accounts/index.ts";
import type { Schedule, ScheduleSettings } from "./schedule.ts";

/** As text: the driver would send json through jsonb, which loses the order of fields. */
const asJson = (sql: Sql, value: unknown) => sql`${JSON.stringify(value)}::text::json`;
const asTimes = (sql: Sql, times: readonly Date[]) =>
  sql`${times.map((time) => time.toISOString())}::text[]::timestamptz[]`;

/** For a row `s` of `schedules` with `agentOf`. */
const columns = (sql: Sql) => sql`
  s.id, s.user_id as "userId", s.key_id as "keyId", s.agent_id as "agentId", s.name, s.cron, s.timezone, s.input, s.missed,
  s.overlap, s.enabled, s.max_cost_micros as "maxCost", s.approve, s.connectors, s.thread_id as "threadId",
  s.expected_price_micros as "expectedPrice", s.base_url as "baseUrl", s.paused_reason as "pausedReason", s.revision,
  s.next_at as "nextAt", s.upcoming, s.last_due_at as "lastDueAt", s.last_run_id as "lastRunId",
  s.last_skipped_at as "lastSkippedAt", s.skipped_reason as "skippedReason", s.created_at as "createdAt",
  s.updated_at as "updatedAt", coalesce(seen.name, s.agent_name) as "agentName", seen.name is null as "isAgentGone"`;

/** The published agent, if the user of the schedule may run it. */
const agentOf = (sql: Sql) => sql`
  left join lateral (
    select r.snapshot ->> 'name' as name
    from agents a join users u on u.id = a.owner_id join agent_revisions r on r.id = a.published_revision_id
    where a.id = s.agent_id and a.deleted_at is null
      and (a.owner_id = s.user_id or (a.visibility = 'public' and u.disabled_at is null))
  ) seen on true`;

const inScope = (sql: Sql, { userId, onlyKeyIds }: Scope) =>
  sql`s.user_id = ${userId} ${andOfKeys(sql, { onlyKeyIds }, sql`s.key_id`)}`;

export async function readNow(sql: Sql): Promise<Date> {
  const [row] = await sql<[{ now: Date }]>`select clock_timestamp() as now`;
  return row.now;
}

export interface NewSchedule extends ScheduleSettings {
  id: string;
  userId: string;
  keyId: string;
  agentId: string;
  baseUrl: string;
  /** Empty if it is disabled. */
  upcoming: readonly Date[];
}

/** False if the user has `most` schedules. The lock keeps two requests from both counting the same. */
export async function insertSchedule(tx: Transaction, row: NewSchedule, most: number): Promise<boolean> {
  await tx`select pg_advisory_xact_lock(hashtext(${`gantry.schedules.${row.userId}`}))`;
  const [next = null] = row.upcoming;
  const rows = await tx`
    insert into schedules (id, user_id, key_id, agent_id, agent_name, name, cron, timezone, input, missed, overlap, enabled,
      max_cost_micros, approve, connectors, thread_id, expected_price_micros, base_url, next_at, upcoming, look_at, found_at)
    select ${row.id}, ${row.userId}, ${row.keyId}, a.id, r.snapshot ->> 'name', ${row.name}, ${row.cron}, ${row.timezone},
      ${asJson(tx, row.input)}, ${row.missed}, ${row.overlap}, ${row.enabled}, ${row.maxCost}::bigint,
      ${row.approve as string[]}::text[], ${row.connectors as string[]}::text[], ${row.threadId},
      ${row.expectedPrice}::bigint, ${row.baseUrl}, ${next}::timestamptz, ${asTimes(tx, row.upcoming)},
      ${next}::timestamptz, clock_timestamp()
    from agents a join agent_revisions r on r.id = coalesce(a.published_revision_id, a.latest_revision_id)
    where a.id = ${row.agentId} and (select count(*) from schedules where user_id = ${row.userId}) < ${most}
    returning 1`;
  return rows.length > 0;
}

export interface ScheduleChange extends ScheduleSettings {
  keyId: string;
  baseUrl: string;
  pausedReason: string | null;
  /** Undefined: due times stay as they are. Empty if the schedule is not active. */
  upcoming: readonly Date[] | undefined;
}

/** False if the schedule has changed since it was read. */
export async function updateSchedule(
  sql: Sql,
  { id, userId, revision }: Pick<Schedule, "id" | "userId" | "revision">,
  row: ScheduleChange,
): Promise<boolean> {
  const times = row.upcoming;
  const [next = null] = times ?? [];
  const { count } = await sql`
    update schedules s set name = ${row.name}, cron = ${row.cron}, timezone = ${row.timezone},
      input = ${asJson(sql, row.input)}, missed = ${row.missed}, overlap = ${row.overlap}, enabled = ${row.enabled},
      max_cost_micros = ${row.maxCost}, approve = ${row.approve as string[]}::text[],
      connectors = ${row.connectors as string[]}::text[], thread_id = ${row.threadId},
      expected_price_micros = ${row.expectedPrice}, key_id = ${row.keyId}, base_url = ${row.baseUrl},
      paused_reason = ${row.pausedReason}, revision = revision + 1, updated_at = clock_timestamp()
      ${
        times === undefined
          ? sql``
          : sql`, next_at = ${next}, upcoming = ${asTimes(sql, times)}, look_at = ${next},
              found_at = clock_timestamp(), tries = 0, refusals = 0`
      }
    where id = ${id} and user_id = ${userId} and revision = ${revision}`;
  return count > 0;
}

export async function findSchedule(sql: Sql, scope: Scope, id: string): Promise<Schedule | undefined> {
  const [row] = await sql<Schedule[]>`
    select ${columns(sql)} from schedules s ${agentOf(sql)} where s.id = ${id} and ${inScope(sql, scope)}`;
  return row;
}

/** Newest first. */
export async function selectSchedules(
  sql: Sql,
  scope: Scope,
  { agentId, limit, offset }: { agentId?: string | undefined; limit: number; offset: number },
): Promise<Page<Schedule>> {
  const matching = sql`${inScope(sql, scope)} ${agentId === undefined ? sql`` : sql`and s.agent_id = ${agentId}`}`;
  const [entries, [count]] = await Promise.all([
    sql<Schedule[]>`
      select ${columns(sql)} from schedules s ${agentOf(sql)} where ${matching}
      order by s.id desc limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total from schedules s where ${matching}`,
  ]);
  return { entries, total: count?.total ?? 0 };
}

export async function deleteSchedule(sql: Sql, scope: Scope, id: string): Promise<boolean> {
  const { count } = await sql`delete from schedules s where s.id = ${id} and ${inScope(sql, scope)}`;
  return count > 0;
}

/** False if the schedule does not exist. */
export async function noteRun(sql: Sql, id: string, runId: string): Promise<boolean> {
  const { count } = await sql`update schedules set last_run_id = ${runId} where id = ${id}`;
  return count > 0;
}

// Due times.

export interface ClaimedSchedule extends Schedule {
  tries: number;
  refusals: number;
  liveRuns: number;
  /** By the database. */
  now: Date;
}

export async function claimSchedules(
  sql: Sql,
  { wanted, leaseMs, mostLive }: { wanted: number; leaseMs: number; mostLive: number },
): Promise<ClaimedSchedule[]> {
  return sql<ClaimedSchedule[]>`
    select ${columns(sql)}, s.tries, s.refusals, live.n as "liveRuns", clock_timestamp() as now
    from claim_schedules(${wanted}::int, ${leaseMs} * interval '1 ms') s ${agentOf(sql)}
    cross join lateral (${liveRunsOf(sql, sql`s.id`, mostLive)}) live`;
}

/** Counted up to the bound. Call it after `advanceWithRun`, which locks out other runs of the schedule. */
export async function countLiveRuns(tx: Transaction, id: string, most: number): Promise<number> {
  const [row] = await tx<[{ n: number }]>`${liveRunsOf(tx, id, most)}`;
  return row.n;
}

const liveRunsOf = (sql: Sql, id: Part, most: number) => sql`
  select count(*)::int as n from (
    select from runs r where r.source_id = ${id} and r.completed_at is null limit ${most}
  ) runs`;

type Claim = Pick<ClaimedSchedule, "id" | "revision" | "nextAt">;

/** What remains true of a claim until another node, or its user, has changed the schedule. A Date has milliseconds. */
const isStill = (sql: Sql, { id, revision, nextAt }: Claim) => sql`
  id = ${id} and revision = ${revision} and look_at is not null
  and date_trunc('milliseconds', next_at) is not distinct from ${nextAt}::timestamptz`;

const noMoreTimes = "The expression has no further due times. Change cron and enable the schedule again.";

const onTo = (sql: Sql, upcoming: readonly Date[]) => {
  const [next = null] = upcoming;
  return sql`revision = revision + 1, next_at = ${next}::timestamptz, upcoming = ${asTimes(sql, upcoming)},
    look_at = ${next}::timestamptz, found_at = clock_timestamp(), tries = 0,
    paused_reason = ${next === null ? noMoreTimes : null}`;
};

/** Call it in the transaction that stores the run. False if the due time was handled meanwhile. */
export async function advanceWithRun(
  tx: Transaction,
  claim: Claim,
  { dueAt, runId, upcoming }: { dueAt: Date; runId: string; upcoming: readonly Date[] },
): Promise<boolean> {
  const { count } = await tx`
    update schedules set ${onTo(tx, upcoming)}, last_due_at = ${dueAt}, last_run_id = ${runId}, refusals = 0
    where ${isStill(tx, claim)}`;
  return count > 0;
}

export async function advanceWithoutRun(
  sql: Sql,
  claim: Claim,
  {
    upcoming,
    skipped,
  }: {
    upcoming: readonly Date[];
    skipped?: { at: Date; reason: string; isRefusal: boolean } | undefined;
  },
): Promise<void> {
  await sql`
    update schedules set ${onTo(sql, upcoming)} ${
      skipped === undefined
        ? sql``
        : sql`, last_skipped_at = ${skipped.at}, skipped_reason = ${skipped.reason},
            refusals = ${skipped.isRefusal ? sql`refusals + 1` : sql`refusals`}`
    }
    where ${isStill(sql, claim)}`;
}

/** `skippedAt`: the due time that created no run. */
export async function pauseSchedule(
  sql: Sql,
  claim: Claim,
  { reason, skippedAt }: { reason: string; skippedAt: Date },
): Promise<boolean> {
  const { count } = await sql`
    update schedules set paused_reason = ${reason}, revision = revision + 1, next_at = null, upcoming = '{}',
      look_at = null, tries = 0, refusals = 0, updated_at = clock_timestamp(), last_skipped_at = ${skippedAt},
      skipped_reason = ${reason}
    where ${isStill(sql, claim)}`;
  return count > 0;
}

export async function lookAgain(sql: Sql, claim: Claim, delayMs: number): Promise<void> {
  await sql`
    update schedules set look_at = clock_timestamp() + ${delayMs} * interval '1 ms' where ${isStill(sql, claim)}`;
}

/**
 * Finds due times again that were found by a clock far ahead of the current one. Without it, schedules would wait until the
 * clock reaches that time. A clock that was set back a little passes these times soon, and must not repeat them.
 */
export async function forgetFutureTimes(sql: Sql): Promise<number> {
  const { count } = await sql`
    update schedules set next_at = null, upcoming = '{}', look_at = now(), revision = revision + 1, tries = 0
    where look_at is not null and found_at > now() + interval '48 hours'`;
  return count;
}

/** After a restore, due times start from the present: those since the backup may have had their runs. */
export async function forgetDueTimes(tx: Transaction): Promise<void> {
  await tx`
    update schedules set next_at = null, upcoming = '{}', look_at = now(), revision = revision + 1, tries = 0
    where look_at is not null`;
}
