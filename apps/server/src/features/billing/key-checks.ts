import type { Sql } from "../../engines/database/database.ts";
import { horizon } from "./sum-checks.ts";

type Query = ReturnType<Sql>;

/** What live predictions and runs hold of periods of keys and their parents. */
const held = (sql: Sql): Query => sql`
  select c.*, s.reserved_micros as reserved from live_predictions s cross join lateral (values
    (s.key_id, s.key_month, s.key_day), (s.parent_key_id, s.parent_month, s.parent_day)) c (key_id, month, day)
  union all
  select c.*, r.price_micros from runs r cross join lateral (values
    (r.key_id, r.key_month, r.key_day), (r.parent_key_id, r.parent_month, r.parent_day)) c (key_id, month, day)
  where r.status in ('pending', 'running')`;

/** Where limits have changed, only periods that began later are known to have been counted from their start. */
const since = (sql: Sql, period: "month" | "day"): Query => {
  const step = period === "month" ? sql`interval '1 month'` : sql`interval '1 day'`;
  return sql`coalesce(date_trunc(${period}, k.limits_changed_at, 'UTC') + ${step}, '-infinity')`;
};

const startOf = (sql: Sql, date: Query): Query => sql`(${date}::timestamp at time zone 'UTC')`;

/**
 * The spending of limited keys in some periods equals the usage of the key and of the keys that it is the parent of. Dropped
 * rows, and rows without a key, may belong to any key and widen the bounds. `spent` has the columns key_id, user_id, since,
 * spent, is_all: of the periods from `since` on, and whether these are all.
 */
const spending = (sql: Sql, spent: Query): Query => sql`
  select case when s.spent < s.used then 'key_spent_too_little' else 'key_spent_too_much' end as rule, s.key_id as subject,
    case when s.spent < s.used then s.used else s.used + s.unknown end as expected, s.spent as found
  from (
    select m.key_id, m.spent, m.is_all, coalesce(u.used, 0) as used,
      coalesce(nameless.used, 0) + coalesce(gone.used, 0) as unknown
    from (${spent}) m
    left join lateral (
      select sum(u.price_micros) as used
      from api_keys c join usage u on u.key_id = c.id and u.price_micros > 0 and u.created_at >= ${horizon(sql)}
        and u.created_at >= m.since
      where c.id = m.key_id or c.parent_id = m.key_id
    ) u on true
    left join (
      select user_id, sum(price_micros) as used from usage
      where price_micros > 0 and key_id is null and created_at >= ${horizon(sql)} group by 1
    ) nameless on nameless.user_id = m.user_id
    left join (
      select user_id, sum(spent_micros) as used from usage_hours where hour < ${horizon(sql)} group by 1
    ) gone on gone.user_id = m.user_id
  ) s where s.is_all and s.spent < s.used or s.spent > s.used + s.unknown`;

/** The invariants of keys' budgets. See `ledgerChecks`. */
export const keyChecks = {
  reserved: (sql: Sql): Query => sql`
    with held as materialized (${held(sql)})
    select 'key_reserved' as rule, coalesce(m.key_id, l.key_id) || ' ' || coalesce(m.month, l.month) as subject,
      coalesce(l.reserved, 0) as expected, coalesce(m.reserved_micros, 0) as found
    from key_months m full join (
      select key_id, month, sum(reserved) as reserved from held where month is not null group by 1, 2
    ) l on l.key_id = m.key_id and l.month = m.month
    where coalesce(l.reserved, 0) <> coalesce(m.reserved_micros, 0)
    union all
    select 'key_reserved_today', coalesce(d.key_id, l.key_id) || ' ' || coalesce(d.day, l.day),
      coalesce(l.reserved, 0), coalesce(d.reserved_micros, 0)
    from key_days d full join (
      select key_id, day, sum(reserved) as reserved from held where day is not null group by 1, 2
    ) l on l.key_id = d.key_id and l.day = d.day
    where coalesce(l.reserved, 0) <> coalesce(d.reserved_micros, 0)`,

  months: (sql: Sql): Query =>
    spending(
      sql,
      sql`
        select k.id as key_id, k.user_id, ${since(sql, "month")} as since, k.limits_changed_at is null as is_all,
          coalesce(sum(m.spent_micros) filter (where ${startOf(sql, sql`m.month`)} >= ${since(sql, "month")}), 0) as spent
        from api_keys k left join key_months m on m.key_id = k.id where k.monthly_limit_micros is not null group by k.id`,
    ),

  /** Old days are deleted, so only what is too much can be seen of older keys. */
  days: (sql: Sql): Query =>
    spending(
      sql,
      sql`
        select k.id as key_id, k.user_id, ${since(sql, "day")} as since,
          k.limits_changed_at is null and k.created_at > now() - interval '30 days' as is_all,
          coalesce(sum(d.spent_micros) filter (where ${startOf(sql, sql`d.day`)} >= ${since(sql, "day")}), 0) as spent
        from api_keys k left join key_days d on d.key_id = k.id where k.daily_limit_micros is not null group by k.id`,
    ),

  /** A limit binds every period that began after it was set. */
  limits: (sql: Sql): Query => sql`
    select 'key_month_above_limit' as rule, m.key_id || ' ' || m.month as subject, k.monthly_limit_micros as expected,
      m.spent_micros + m.reserved_micros as found
    from key_months m join api_keys k on k.id = m.key_id
    where m.spent_micros + m.reserved_micros > k.monthly_limit_micros and ${startOf(sql, sql`m.month`)} >= ${since(sql, "month")}
    union all
    select 'key_day_above_limit', d.key_id || ' ' || d.day, k.daily_limit_micros, d.spent_micros + d.reserved_micros
    from key_days d join api_keys k on k.id = d.key_id
    where d.spent_micros + d.reserved_micros > k.daily_limit_micros and ${startOf(sql, sql`d.day`)} >= ${since(sql, "day")}`,
} as const;
