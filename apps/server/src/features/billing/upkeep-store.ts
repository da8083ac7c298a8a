import type { Sql, Transaction } from "../../engines/database/database.ts";
import type { UsageMonth } from "./time.rules.ts";

export const upkeepDeadlineMs = 15 * 60_000;
const upkeepLock = 7_242_006;

/** Allows one node at a time, until the end of the transaction. */
export async function lockUpkeep(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${upkeepLock})`;
}

/** Waiting for a table lock blocks all later queries on the table, so the upkeep gives up early and tries again. */
export async function limitTableLocks(tx: Transaction, milliseconds: number): Promise<void> {
  await tx`select set_config('lock_timeout', ${String(milliseconds)}, true)`;
}

export async function selectNow(sql: Sql): Promise<Date> {
  const [row] = await sql<[{ now: Date }]>`select clock_timestamp() as now`;
  return row.now;
}

export async function selectPartitions(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'usage'::regclass order by c.relname`;
  return rows.map((row) => row.name);
}

/**
 * Creates the partition of a month and moves its rows out of the default partition. Locks out writers: a row on its way to
 * the default partition would be refused there once the month has its own.
 */
export async function createPartition(tx: Transaction, { table, from, to }: UsageMonth): Promise<void> {
  await tx.unsafe("lock table only usage in share row exclusive mode");
  await tx.unsafe("lock table usage_default in access exclusive mode");
  await tx.unsafe(`create table ${table} (like usage including defaults including constraints)`);
  await tx.unsafe(`
    with moved as (
      delete from usage_default
      where created_at >= '${from.toISOString()}' and created_at < '${to.toISOString()}' returning *
    )
    insert into ${table} select * from moved`);
  await tx.unsafe(`
    alter table usage attach partition ${table}
    for values from ('${from.toISOString()}') to ('${to.toISOString()}')`);
}

export async function dropPartition(tx: Transaction, table: string): Promise<void> {
  await tx.unsafe(`drop table ${table}`);
}

export async function moveHorizon(sql: Sql, horizon: Date): Promise<void> {
  await sql`update usage_marks set horizon = ${horizon} where horizon is null or horizon < ${horizon}`;
}

export async function postCharges(sql: Sql, until: Date): Promise<void> {
  await sql`select post_charges(${until})`;
}

export async function deleteDefaultBefore(sql: Sql, before: Date, limit: number): Promise<number> {
  const gone = await sql`
    delete from usage_default where ctid = any(array(
      select ctid from usage_default where created_at < ${before} limit ${limit}
    ))`;
  return gone.count;
}

/** Adds all usage to the sums, one wallet at a time, so that each is locked only for its own rows. */
export async function foldWallets(sql: Sql): Promise<void> {
  const wallets = await sql<{ userId: string }[]>`select user_id as "userId" from wallets where unfolded > 0`;
  for (const { userId } of wallets) await sql`select fold_usage(${userId})`;
}

/** Ensures that no new usage is dated before a moment. Locked wallets are skipped: theirs are folded beyond it already. */
export async function sealUsage(sql: Sql, before: Date): Promise<void> {
  for (;;) {
    const sealed = await sql`
      update wallets set folded_until = ${before} where user_id in (
        select user_id from wallets w where folded_until < ${before} and not exists (
          select 1 from usage u
          where u.user_id = w.user_id and u.created_at > w.folded_until and u.created_at <= ${before})
        limit 1000 for update skip locked)`;
    if (sealed.count === 0) return;
  }
}

export async function selectFirstOpenDay(sql: Sql): Promise<Date | undefined> {
  const [row] = await sql<[{ day: Date | null }]>`
    select date_trunc('day', coalesce(m.days_before, (select min(hour) from usage_hours)), 'UTC') as day
    from usage_marks m`;
  return row.day ?? undefined;
}

/** Blocks folds until the end of the transaction, so that the hours do not change. */
export async function lockSums(tx: Transaction): Promise<void> {
  await tx`select 1 from usage_marks for update`;
}

/** Hours of the day before `detailed_from` without figures for charts, if their rows are kept. Undefined when all are done. */
export async function selectDayToDetail(sql: Sql): Promise<{ from: Date; to: Date } | undefined> {
  const [day] = await sql<{ from: Date; to: Date }[]>`
    select until - interval '1 day' as from, until as to
    from (
      select least(detailed_from, date_trunc('day', clock_timestamp(), 'UTC') + interval '1 day') as until,
        coalesce(horizon, '-infinity') as horizon
      from usage_marks
    ) mark where until > horizon and exists (select from usage_hours where hour < until)`;
  return day;
}

export async function selectUsersToDetail(sql: Sql, from: Date, to: Date): Promise<string[]> {
  const rows = await sql<{ userId: string }[]>`
    select distinct user_id as "userId" from usage_hours where hour >= ${from} and hour < ${to} and errors is null`;
  return rows.map(({ userId }) => userId);
}

export async function detailHours(sql: Sql, userId: string, from: Date, to: Date): Promise<void> {
  await sql`select detail_usage_hours(${userId}, ${from}, ${to})`;
}

export async function moveDetailedFrom(sql: Sql, from: Date): Promise<void> {
  await sql`update usage_marks set detailed_from = ${from} where detailed_from > ${from}`;
}

/** Computes the figures of closed days from their hours. The sums must be locked. */
export async function detailDays(sql: Sql, from: Date, to: Date): Promise<void> {
  await sql`select detail_usage_days(null, ${from}, ${to})`;
}

/** Days that a node of an earlier version closed: it does not know the figures. */
export async function selectDaysToDetail(sql: Sql): Promise<Date[]> {
  const rows = await sql<{ day: Date }[]>`
    select distinct d.day from usage_days d, usage_marks m
    where d.errors is null and d.day >= greatest(m.detailed_from, m.days_before - interval '7 days')`;
  return rows.map(({ day }) => day);
}

export async function insertDays(tx: Transaction, from: Date, to: Date): Promise<void> {
  await tx`
    with closed as (
      insert into usage_days (user_id, day, model_name, requests, paid_requests, spent_micros)
      select user_id, date_trunc('day', hour, 'UTC'), model_name, sum(requests), sum(paid_requests), sum(spent_micros)
      from usage_hours where hour >= ${from} and hour < ${to}
      group by 1, 2, 3
      returning model_name, spent_micros
    )
    update usage_marks set days_before = ${to}, charged_micros = charged_micros + coalesce(
      (select sum(spent_micros) from closed where not is_sale(model_name)), 0)`;
  await detailDays(tx, from, to);
}
