import type { Sql, Transaction } from "../../engines/database/database.ts";
import type { UsageMonth } from "./usage-partitions.ts";

/** Any number; all nodes must use the same. */
const upkeepLock = 7_242_006;

/** One node at a time does the upkeep, until the end of the transaction. */
export async function lockUpkeep(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${upkeepLock})`;
}

/** Whoever waits for a table longer than this makes all who come after wait too: better to give up and come again. */
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
 * Gives a month a partition of its own and moves the rows there that came before it was made. Nobody may write
 * meanwhile: a row that was on its way to the default partition would be refused there once the month has its own.
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

/** Moves the horizon forward, never back. */
export async function moveHorizon(sql: Sql, horizon: Date): Promise<void> {
  await sql`update usage_marks set horizon = ${horizon} where horizon is null or horizon < ${horizon}`;
}

/** Before rows expire, the ledger gets their charges. Balances do not change. */
export async function postCharges(sql: Sql, until: Date): Promise<void> {
  await sql`select post_charges(${until})`;
}

/**
 * A horizon in the future was moved there by a clock that stood ahead. Everything before it was dropped, and nothing has
 * been written between now and there, except for users whose usage that clock dated. So the marks go back to now.
 */
export async function takeBackHorizon(tx: Transaction, now: Date): Promise<void> {
  const ahead = await tx`select 1 from usage_marks where horizon > ${now} for update`;
  if (ahead.length === 0) return;
  await tx`
    update usage_marks set horizon = (
      select max(h.hour) + interval '1 hour' from usage_hours h left join (
        select user_id, date_trunc('hour', created_at) as hour, model_name, count(*) as requests
        from usage group by 1, 2, 3
      ) u on u.user_id = h.user_id and u.hour = h.hour and u.model_name = h.model_name
      where h.requests > coalesce(u.requests, 0)
    ), charges_until = greatest(${now}, (select max(created_at) + interval '1 us' from usage where created_at < charges_until))`;
  await tx`
    update wallets w set folded_until = m.charges_until from usage_marks m
    where w.folded_until > m.charges_until and not exists (
      select 1 from usage u
      where u.user_id = w.user_id and u.created_at > m.charges_until and u.created_at <= w.folded_until)`;
}

/** Of the rows that no month had a partition for; answers how many went. */
export async function deleteDefaultBefore(sql: Sql, before: Date, limit: number): Promise<number> {
  const gone = await sql`
    delete from usage_default where ctid = any(array(
      select ctid from usage_default where created_at < ${before} limit ${limit}
    ))`;
  return gone.count;
}

// Sums.

/** Adds all usage to the sums, wallet by wallet: each is locked only for its own rows. */
export async function foldWallets(sql: Sql): Promise<void> {
  const wallets = await sql<{ userId: string }[]>`select user_id as "userId" from wallets where unfolded > 0`;
  for (const { userId } of wallets) await sql`select fold_usage(${userId})`;
}

/** From now on no usage is dated before a moment. Wallets in use are skipped: theirs are folded beyond it already. */
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

/** The first day that is not summed yet and has any sums by hour; undefined when there is none. */
export async function selectFirstOpenDay(sql: Sql): Promise<Date | undefined> {
  const [row] = await sql<[{ day: Date | null }]>`
    select date_trunc('day', coalesce(m.days_before, (select min(hour) from usage_hours)), 'UTC') as day
    from usage_marks m`;
  return row.day ?? undefined;
}

/** Keeps folds out until the end of the transaction: the hours do not change meanwhile. */
export async function lockSums(tx: Transaction): Promise<void> {
  await tx`select 1 from usage_marks for update`;
}

/** Sums the hours of whole days, and records that it is done. */
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
}
