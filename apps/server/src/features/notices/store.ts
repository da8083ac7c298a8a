import type { Sql } from "../../engines/database/database.ts";
import { andOfKeys, type Page, type Scope } from "../accounts/index.ts";
import type { Notice } from "./notice.ts";

/** Who reads: notices of an account, with the dismissals of a person. */
export interface Reader {
  scope: Scope;
  personId: string;
}

/** Of the key `k`. */
export const budgetsOf = (sql: Sql) => sql`budgets_of(k.id, k.monthly_limit_micros, k.daily_limit_micros)`;

/** An open notice shows the current value. */
export const noticeFields = (sql: Sql) => sql`
  n.id, n.user_id as "userId", o.username as owner, n.kind, n.period, n.limit_micros as "limitMicros",
  case when n.key_id is not null then (
    select json_build_object('id', k.id, 'name', k.name, 'member', p.username, 'seat', exists (
      select from team_members m where m.seat_key_id = k.id))
    from api_keys k left join users p on p.id = k.member_id where k.id = n.key_id
  ) end as key,
  coalesce(case
    when n.resolved_at is not null then null
    when n.key_id is null then (select w.balance_micros from wallets w where w.user_id = n.user_id)
    else (select b.spent_micros from api_keys k cross join ${budgetsOf(sql)} b where k.id = n.key_id and b.period = n.period)
  end, n.value_micros) as "valueMicros",
  n.created_at as "createdAt", n.resolved_at as "resolvedAt"`;

const inScope = (sql: Sql, { userId, onlyKeyIds }: Scope) =>
  sql`n.user_id = ${userId} ${andOfKeys(sql, { onlyKeyIds }, sql`n.key_id`)}`;

const ofReader = (sql: Sql, { personId }: Reader) => sql`
  notices n join users o on o.id = n.user_id
  left join notice_dismissals d on d.notice_id = n.id and d.user_id = ${personId}`;

export async function selectNotices(
  sql: Sql,
  reader: Reader,
  { onlyOpen, limit, offset }: { onlyOpen: boolean; limit: number; offset: number },
): Promise<Page<Notice>> {
  const chosen = sql`
    ${inScope(sql, reader.scope)} ${onlyOpen ? sql`and n.resolved_at is null and d.notice_id is null` : sql``}`;
  const [entries, [count]] = await Promise.all([
    sql<Notice[]>`
      select ${noticeFields(sql)}, d.created_at as "dismissedAt" from ${ofReader(sql, reader)} where ${chosen}
      order by n.id desc limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total from ${ofReader(sql, reader)} where ${chosen}`,
  ]);
  return { entries: [...entries], total: count?.total ?? 0 };
}

/** False if the reader has no such notice. */
export async function insertDismissal(sql: Sql, { scope, personId }: Reader, noticeId: string): Promise<boolean> {
  const [row] = await sql<{ known: boolean }[]>`
    with own as (select n.id from notices n where n.id = ${noticeId} and ${inScope(sql, scope)}), dismissed as (
      insert into notice_dismissals (notice_id, user_id) select id, ${personId} from own on conflict do nothing)
    select exists (select from own) as known`;
  return row?.known ?? false;
}

/** Users with an open notice about their balance. */
export async function selectLowBalances(sql: Sql, userIds: readonly string[]): Promise<string[]> {
  const rows = await sql<{ userId: string }[]>`
    select n.user_id as "userId" from notices n
    where n.user_id = any (${[...userIds]}::text[]) and n.kind = 'balance_low' and n.resolved_at is null`;
  return rows.map(({ userId }) => userId);
}

/** Deletes notices that are resolved. Returns how many: fewer than the limit means that none are left. */
export async function deleteNotices(sql: Sql, before: Date, limit: number): Promise<number> {
  const rows = await sql`
    delete from notices where id = any(array(select id from notices where resolved_at < ${before} limit ${limit}))
    returning 1`;
  return rows.length;
}
