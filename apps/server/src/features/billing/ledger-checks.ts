import type { Sql } from "../../engines/database/database.ts";

type Query = ReturnType<Sql>;

/**
 * The first moment of which single rows of usage are kept. Where that is lost, or cannot be true, all of them are
 * expected: what is compared with nothing would always be right.
 */
const horizon = (sql: Sql): Query =>
  sql`coalesce((select horizon from usage_marks where horizon <= now()), '-infinity')`;

/** Between whom each kind of entry moves money. `user` is any wallet. */
const movements: Readonly<Record<string, readonly [from: string, to: string]>> = {
  credit: ["outside", "user"],
  correction: ["user", "outside"],
  charge: ["user", "platform"],
  sale: ["user", "user"],
};

const holder = (sql: Sql, account: Query): Query =>
  sql`case when ${account} like 'user:%' then 'user' else ${account} end`;

/**
 * What must hold between the tables of money, one query each. A query answers a row for each place where it does not:
 * `rule` names what is broken, `subject` where, `expected` and `found` are the two figures. Each is one pass over its
 * tables with sorting and hashing in bounded memory, so that size costs time and nothing else.
 */
export const ledgerChecks: Record<string, (sql: Sql) => Query> = {
  accounts: (sql) => sql`
    with account as materialized (
      select account, sum(amount) as amount from (
        select to_account as account, amount_micros as amount from ledger
        union all
        select from_account, -amount_micros from ledger
      ) side group by account
    )
    select 'wallet_balance' as rule, w.user_id as subject, coalesce(a.amount, 0) as expected, w.balance_micros as found
    from wallets w left join account a on a.account = 'user:' || w.user_id
    where coalesce(a.amount, 0) <> w.balance_micros
    union all
    select 'unknown_account', a.account, 0, a.amount from account a
    where a.account not in ('platform', 'outside')
      and not exists (select 1 from wallets w where a.account = 'user:' || w.user_id)
    union all
    select 'missing_wallet', u.id, 1, 0 from users u where not exists (select 1 from wallets w where w.user_id = u.id)
    union all
    select 'sum_of_accounts', 'all', 0, total from (
      select coalesce((select sum(balance_micros) from wallets), 0)
        + coalesce((select sum(amount) from account where account not like 'user:%'), 0) as total
    ) sums where total <> 0`,

  movements: (sql) => {
    const rules = Object.entries(movements);
    return sql`
      select 'entry_between_others' as rule, concat_ws(' ', l.id, l.kind, l.from_account, l.to_account) as subject,
        null::bigint as expected, l.amount_micros as found
      from ledger l left join unnest(
        ${rules.map(([kind]) => kind)}::text[], ${rules.map(([, [from]]) => from)}::text[],
        ${rules.map(([, [, to]]) => to)}::text[]
      ) as allowed (kind, from_holder, to_holder) on allowed.kind = l.kind
        and allowed.from_holder = ${holder(sql, sql`l.from_account`)} and allowed.to_holder = ${holder(sql, sql`l.to_account`)}
      where allowed.kind is null`;
  },

  /** How far the upkeep of usage says that it has come, which the other checks go by. */
  marks: (sql) => sql`
    select rule, 'usage_marks' as subject, expected, found from (
      select count(*) as rows, count(*) filter (where horizon > now()) as far,
        count(*) filter (where horizon <> date_trunc('hour', horizon, 'UTC')) as odd,
        count(*) filter (where days_before > now()) as early,
        count(*) filter (where days_before <> date_trunc('day', days_before, 'UTC')) as uneven
      from usage_marks
    ) m cross join lateral (values
      ('marks_lost', 1, m.rows),
      ('horizon_in_the_future', 0, m.far),
      ('horizon_within_an_hour', 0, m.odd),
      ('days_closed_in_the_future', 0, m.early),
      ('days_closed_within_a_day', 0, m.uneven)
    ) as figure (rule, expected, found)
    where expected <> found`,

  wallets: (sql) => sql`
    select rule, coalesce(w.user_id, l.user_id) as subject, expected, found
    from wallets w full join (
      select user_id, sum(reserved) as reserved, sum(running) as running from (
        select user_id, reserved_micros as reserved, counts_parallel::int as running from live_predictions
        union all
        select user_id, price_micros, 0 from runs where status in ('pending', 'running') and price_micros > 0
      ) live group by user_id
    ) l on l.user_id = w.user_id
    cross join lateral (values
      ('wallet_reserved', coalesce(l.reserved, 0), coalesce(w.reserved_micros, 0)),
      ('wallet_running', coalesce(l.running, 0), coalesce(w.running, 0))
    ) as figure (rule, expected, found)
    where expected <> found`,

  slots: (sql) => sql`
    select rule, coalesce(s.model_id, l.model_id) as subject, expected, found
    from model_slots s full join (
      select model_id, count(started_at) as running, count(*) - count(started_at) as waiting
      from live_predictions group by model_id
    ) l on l.model_id = s.model_id
    cross join lateral (values
      ('model_running', coalesce(l.running, 0), coalesce(s.running, 0)),
      ('model_waiting', coalesce(l.waiting, 0), coalesce(s.waiting, 0))
    ) as figure (rule, expected, found)
    where expected <> found`,

  charges: (sql) => sql`
    with charge as (
      select reference, from_account, amount_micros, recorded_at from ledger
      where kind in ('charge', 'sale') and recorded_at >= ${horizon(sql)}
    ), used as (
      select request_id, 'user:' || user_id as account, price_micros, created_at from usage
      where price_micros <> 0 and created_at >= ${horizon(sql)}
    ), broken as materialized (
      select case
          when u.request_id is null then 'charge_without_usage'
          when c.reference is null then 'usage_without_charge'
          when u.account <> c.from_account then 'charge_of_another_wallet'
          when u.created_at <> c.recorded_at then 'charge_at_another_time'
          else 'charge_amount' end as rule,
        coalesce(u.request_id, c.reference) as subject, u.price_micros as expected, c.amount_micros as found
      from used u full join charge c on c.reference = u.request_id
      where u.request_id is null or c.reference is null or u.account <> c.from_account
        or u.created_at <> c.recorded_at or u.price_micros <> c.amount_micros
    )
    select * from broken
    union all
    -- Two rows of usage for one charge both match it; only their number gives them away.
    select 'usage_twice', 'all', expected, found from (
      select (select count(*) from used) as found, (select count(*) from charge)
        - (select count(*) from broken where rule = 'charge_without_usage')
        + (select count(*) from broken where rule = 'usage_without_charge') as expected
    ) counted where found > expected`,

  hours: (sql) => sql`
    select figure.rule, concat_ws(' ', coalesce(h.user_id, u.user_id), to_json(coalesce(h.hour, u.hour)) #>> '{}',
      coalesce(h.model_name, u.model_name)) as subject, expected, found
    from (
      select * from usage_hours where hour >= ${horizon(sql)}
    ) h full join (
      select user_id, date_trunc('hour', created_at) as hour, model_name, count(*) as requests,
        count(*) filter (where price_micros > 0) as paid, sum(price_micros) as spent
      from usage where created_at >= ${horizon(sql)} group by 1, 2, 3
    ) u on u.user_id = h.user_id and u.hour = h.hour and u.model_name = h.model_name
    cross join lateral (values
      ('hour_requests', coalesce(u.requests, 0), coalesce(h.requests, 0)),
      ('hour_paid_requests', coalesce(u.paid, 0), coalesce(h.paid_requests, 0)),
      ('hour_spent', coalesce(u.spent, 0), coalesce(h.spent_micros, 0))
    ) as figure (rule, expected, found)
    where expected <> found`,

  days: (sql) => sql`
    select figure.rule, concat_ws(' ', coalesce(d.user_id, h.user_id), to_json(coalesce(d.day, h.day)) #>> '{}',
      coalesce(d.model_name, h.model_name)) as subject, expected, found
    from usage_days d full join (
      select user_id, date_trunc('day', hour, 'UTC') as day, model_name, sum(requests) as requests,
        sum(paid_requests) as paid, sum(spent_micros) as spent
      from usage_hours where hour < coalesce((select days_before from usage_marks), '-infinity') group by 1, 2, 3
    ) h on h.user_id = d.user_id and h.day = d.day and h.model_name = d.model_name
    cross join lateral (values
      ('day_requests', coalesce(h.requests, 0), coalesce(d.requests, 0)),
      ('day_paid_requests', coalesce(h.paid, 0), coalesce(d.paid_requests, 0)),
      ('day_spent', coalesce(h.spent, 0), coalesce(d.spent_micros, 0))
    ) as figure (rule, expected, found)
    where expected <> found
    union all
    select 'days_charged', 'all', charged, m.charged_micros from usage_marks m, (
      select coalesce(sum(spent_micros), 0) as charged from usage_days where model_name not like 'agents/%/%'
    ) days where charged <> m.charged_micros`,

  /**
   * What a key has spent is written down nowhere else, so it is held between two bounds: no less than its predictions
   * cost whose ends are still kept and its runs sold for, and for all keys of a user no more than the user was charged.
   */
  keys: (sql) => sql`
    select 'key_reserved' as rule, coalesce(m.key_id, l.key_id) || ' ' || coalesce(m.month, l.month) as subject,
      coalesce(l.reserved, 0) as expected, coalesce(m.reserved_micros, 0) as found
    from key_months m full join (
      select key_id, month, sum(reserved) as reserved from (
        select key_id, key_month as month, reserved_micros as reserved from live_predictions
        where key_month is not null
        union all
        select key_id, key_month, price_micros from runs
        where key_month is not null and status in ('pending', 'running')
      ) live group by 1, 2
    ) l on l.key_id = m.key_id and l.month = m.month
    where coalesce(l.reserved, 0) <> coalesce(m.reserved_micros, 0)
    union all
    select 'key_spent_too_little', k.id, cost.micros, coalesce(spent.micros, 0)
    from api_keys k join (
      select e.key_id, sum(e.micros) as micros from (
        select e.key_id, l.amount_micros as micros
        from ended_predictions e join ledger l on l.kind = 'charge' and l.reference = e.id
        union all
        select key_id, price_micros from runs where status = 'done' and key_month is not null
      ) e where e.key_id in (select id from api_keys where monthly_limit_micros is not null) group by 1
    ) cost on cost.key_id = k.id
    left join (select key_id, sum(spent_micros) as micros from key_months group by 1) spent on spent.key_id = k.id
    where coalesce(spent.micros, 0) < cost.micros
    union all
    select 'key_spent_too_much', spent.user_id, coalesce(charged.micros, 0), spent.micros
    from (
      select k.user_id, sum(m.spent_micros) as micros from key_months m join api_keys k on k.id = m.key_id group by 1
    ) spent left join (
      select from_account, sum(amount_micros) as micros from ledger where kind in ('charge', 'sale')
        and from_account in (select 'user:' || k.user_id from key_months m join api_keys k on k.id = m.key_id)
      group by 1
    ) charged on charged.from_account = 'user:' || spent.user_id
    where spent.micros > coalesce(charged.micros, 0)`,

  /** Rows of before migration 0045 do not say what was reserved, and cannot be judged. */
  reservations: (sql) => sql`
    select 'charge_above_reservation' as rule, request_id as subject, reserved_micros as expected, price_micros as found
    from usage where price_micros > reserved_micros and created_at >= ${horizon(sql)}`,

  /** A key's limit never changes, so it binds every month that is kept. */
  limits: (sql) => sql`
    select 'key_month_above_limit' as rule, m.key_id || ' ' || m.month as subject, k.monthly_limit_micros as expected,
      m.spent_micros + m.reserved_micros as found
    from key_months m join api_keys k on k.id = m.key_id
    where m.spent_micros + m.reserved_micros > k.monthly_limit_micros`,

  /**
   * A sale that left its buyer below zero was paid with money that was not there, unless the balance covered its price when
   * the run was created: predictions may have taken the rest since. The wallet is locked while a run is created, so the
   * entries before that moment are the balance. Sales whose runs are no longer kept cannot be judged.
   */
  sales: (sql) => sql`
    with entry as (
      select account, id, kind, reference, amount, sum(amount) over (partition by account order by id) as balance
      from (
        select to_account as account, id, kind, reference, amount_micros as amount from ledger
        union all
        select from_account, id, kind, reference, -amount_micros from ledger
      ) side where account in (select from_account from ledger where kind = 'sale')
    ), debt as materialized (
      select * from entry where kind = 'sale' and amount < 0 and balance < 0
    )
    select 'sale_not_covered' as rule, d.reference as subject, -d.amount as expected, accepted.balance as found
    from debt d join runs r on r.id = d.reference cross join lateral (
      select d.balance - d.amount - (
          select coalesce(sum(l.amount_micros), 0) from ledger l
          where l.to_account = d.account and l.to_account <> 'platform' and l.recorded_at > r.created_at and l.id < d.id
        ) + (
          select coalesce(sum(l.amount_micros), 0) from ledger l
          where l.from_account = d.account and l.kind in ('charge', 'sale') and l.recorded_at > r.created_at and l.id < d.id
        ) + (
          select coalesce(sum(l.amount_micros), 0) from ledger l
          where l.from_account = d.account and l.kind = 'correction' and l.recorded_at > r.created_at and l.id < d.id
        ) as balance
    ) as accepted where accepted.balance < -d.amount`,

  /**
   * Nobody pays for a model that is private to another user. Only a model that has not changed since is known to have been
   * private; the minute is for calls that were on their way when it became so.
   */
  private_models: (sql) => sql`
    select 'charge_for_private_model' as rule, e.id as subject, 0 as expected, l.amount_micros as found
    from models m join ended_predictions e on e.model_id = m.id and e.user_id <> m.owner_id
      and e.created_at > m.updated_at + interval '1 minute'
      join ledger l on l.kind = 'charge' and l.reference = e.id
    where m.visibility = 'private'`,
};
