import type { Sql, Transaction } from "../../engines/database/database.ts";
import type { SealedWebhook } from "../webhooks/index.ts";
import { defaultSettings, type LowMoney, type Notice } from "./notice.ts";
import { budgetsOf, noticeFields } from "./store.ts";

export type Stage = "balances" | "budgets" | "open";

export interface SearchPlace {
  stage: Stage;
  /** The last id that was looked at. */
  afterId: string;
}

/** The rest of a table after an id, up to a number of rows. */
export interface Part {
  afterId: string;
  limit: number;
}

interface Looked {
  looked: number;
  /** Null if no row was left. */
  lastId: string | null;
}

/** Undefined if the search is not due, or another node is searching. A time far ahead is that of a wrong clock. */
export async function lockSearch(tx: Transaction): Promise<SearchPlace | undefined> {
  const [place] = await tx<SearchPlace[]>`
    select stage, after_id as "afterId" from notice_search
    where due_at <= clock_timestamp() or due_at > clock_timestamp() + interval '1 hour' for update skip locked`;
  return place;
}

export async function moveSearch(tx: Transaction, { stage, afterId }: SearchPlace, pauseMs: number): Promise<void> {
  await tx`
    update notice_search set stage = ${stage}, after_id = ${afterId},
      due_at = clock_timestamp() + ${pauseMs} * interval '1 ms'`;
}

const balanceBelow = (sql: Sql) => sql`
  (case when s.user_id is null then ${defaultSettings.balanceBelowMicros}::bigint else s.balance_below_micros end)`;
const budgetPercent = (sql: Sql) => sql`
  (case when s.user_id is null then ${defaultSettings.budgetPercent}::integer else s.budget_percent end)`;

/** A subquery on purpose: as a join it could read all open notices for each part. */
const isNotOpen = (sql: Sql, about: ReturnType<Sql>) => sql`
  (select n.id from notices n where ${about} and n.resolved_at is null limit 1) is null`;

/** Balances below the threshold without an open notice. An account that never had money gets no notice. */
export async function selectLowBalances(sql: Sql, { afterId, limit }: Part): Promise<Looked & { found: LowMoney[] }> {
  return looked(
    await sql<(Looked & { found: LowMoney[] })[]>`
      with part as materialized (
        select user_id, balance_micros from wallets where user_id > ${afterId} order by user_id limit ${limit}
      ), low as materialized (
        select p.*, ${balanceBelow(sql)} as limit_micros
        from part p left join notice_settings s on s.user_id = p.user_id
        where p.balance_micros < ${balanceBelow(sql)}
      )
      select (select count(*)::int from part) as looked, (select max(user_id) from part) as "lastId", coalesce((
        select json_agg(json_build_object('userId', l.user_id, 'kind', 'balance_low', 'keyId', null, 'period', null,
          'limitMicros', l.limit_micros, 'valueMicros', l.balance_micros))
        from low l
        where ${isNotOpen(sql, sql`n.user_id = l.user_id and n.kind = 'balance_low'`)}
          and (select u.disabled_at is null and u.role <> 'system' from users u where u.id = l.user_id)
          and exists (
            select from ledger e where e.to_account = 'user:' || l.user_id and e.to_account <> 'platform')
      ), '[]') as found`,
  );
}

/** Budgets of keys that are nearly or completely spent, without an open notice. */
export async function selectLowBudgets(sql: Sql, { afterId, limit }: Part): Promise<Looked & { found: LowMoney[] }> {
  return looked(
    await sql<(Looked & { found: LowMoney[] })[]>`
      with part as materialized (
        select id, user_id, monthly_limit_micros, daily_limit_micros from api_keys
        where (monthly_limit_micros is not null or daily_limit_micros is not null) and revoked_at is null
          and id > ${afterId}
        order by id limit ${limit}
      ), low as materialized (
        select k.id, k.user_id, b.*, budget_notice(b.limit_micros, b.spent_micros, ${budgetPercent(sql)}) as kind
        from part k cross join ${budgetsOf(sql)} b left join notice_settings s on s.user_id = k.user_id
        where budget_notice(b.limit_micros, b.spent_micros, ${budgetPercent(sql)}) is not null
      )
      select (select count(*)::int from part) as looked, (select max(id) from part) as "lastId", coalesce((
        select json_agg(json_build_object('userId', k.user_id, 'kind', k.kind, 'keyId', k.id, 'period', k.period,
          'limitMicros', k.limit_micros, 'valueMicros', k.spent_micros))
        from low k
        where ${isNotOpen(sql, sql`n.user_id = k.user_id and n.kind = k.kind and n.key_id = k.id and n.period = k.period`)}
          and (select u.disabled_at is null from users u where u.id = k.user_id)
      ), '[]') as found`,
  );
}

/** Resolves open notices whose balance or budget is no longer low, for whatever reason. */
export async function resolveNotices(sql: Sql, { afterId, limit }: Part): Promise<Looked> {
  return looked(
    await sql<Looked[]>`
      with part as materialized (
        select id, user_id, kind, key_id, period from notices
        where resolved_at is null and id > ${afterId} order by id limit ${limit}
      ), still as (
        select p.id from part p join users u on u.id = p.user_id and u.disabled_at is null
          left join notice_settings s on s.user_id = p.user_id
        where case
          when p.key_id is null then exists (
            select from wallets w where w.user_id = p.user_id and w.balance_micros < ${balanceBelow(sql)})
          else exists (
            select from api_keys k cross join ${budgetsOf(sql)} b
            where k.id = p.key_id and k.revoked_at is null and b.period = p.period
              and budget_notice(b.limit_micros, b.spent_micros, ${budgetPercent(sql)}) = p.kind)
          end
      ), resolved as (
        update notices set resolved_at = clock_timestamp()
        where id = any (array(select id from part except select id from still))
      )
      select count(*)::int as looked, max(id) as "lastId" from part`,
  );
}

function looked<T extends Looked>([row]: T[]): T {
  if (!row) throw new Error("an aggregate answered nothing");
  return row;
}

/** Returns the ids of those that did not exist. */
export async function insertNotices(
  tx: Transaction,
  notices: readonly (LowMoney & { id: string })[],
): Promise<string[]> {
  if (notices.length === 0) return [];
  const rows = await tx<{ id: string }[]>`
    insert into notices (id, user_id, kind, key_id, period, limit_micros, value_micros)
    select * from unnest(
      ${notices.map(({ id }) => id)}::text[], ${notices.map(({ userId }) => userId)}::text[],
      ${notices.map(({ kind }) => kind)}::text[], ${notices.map(({ keyId }) => keyId)}::text[],
      ${notices.map(({ period }) => period)}::text[], ${notices.map(({ limitMicros }) => limitMicros)}::bigint[],
      ${notices.map(({ valueMicros }) => valueMicros)}::bigint[])
    on conflict do nothing returning id`;
  return rows.map(({ id }) => id);
}

/** Notices whose account has a webhook. */
export async function selectToSend(
  tx: Transaction,
  ids: readonly string[],
): Promise<(Notice & Pick<SealedWebhook, "target">)[]> {
  if (ids.length === 0) return [];
  return tx<(Notice & Pick<SealedWebhook, "target">)[]>`
    select ${noticeFields(tx)}, null as "dismissedAt", s.webhook_target as target
    from notices n join users o on o.id = n.user_id join notice_settings s on s.user_id = n.user_id
    where n.id = any (${[...ids]}::text[]) and s.webhook_target is not null`;
}
