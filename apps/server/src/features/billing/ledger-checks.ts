import type { Sql } from "../../engines/database/database.ts";
import { keyChecks } from "./key-checks.ts";
import { horizon, isSale, sumChecks } from "./sum-checks.ts";

type Query = ReturnType<Sql>;

/** Charges from here on are not in the ledger yet. */
const chargesUntil = (sql: Sql): Query => sql`coalesce((select charges_until from usage_marks), '-infinity')`;

/** The accounts that each kind of entry moves money between. `user` is any wallet. */
const movements: Readonly<Record<string, readonly [from: string, to: string]>> = {
  credit: ["outside", "user"],
  correction: ["user", "outside"],
  charge: ["user", "platform"],
  sale: ["user", "user"],
};

const holder = (sql: Sql, account: Query): Query =>
  sql`case when ${account} like 'user:%' then 'user' else ${account} end`;

/**
 * The invariants of the billing tables, one query each. A query returns a row for each violation: `rule` names the invariant,
 * `subject` the place, `expected` and `found` the two figures. Each query is one pass over its tables in bounded memory.
 */
export const ledgerChecks: Record<string, (sql: Sql) => Query> = {
  accounts: (sql) => sql`
    with unposted as materialized (
      select user_id, sum(price_micros) as amount from usage
      where created_at >= ${chargesUntil(sql)} and price_micros <> 0 and not (${isSale(sql, sql`model_name`)}) group by user_id
    ), account as materialized (
      select account, sum(amount) as amount from (
        select to_account as account, amount_micros as amount from ledger
        union all
        select from_account, -amount_micros from ledger
        union all
        select 'user:' || user_id, -amount from unposted
        union all
        select 'platform', amount from unposted
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

  /** The marks of the upkeep, which the other checks depend on. */
  marks: (sql) => sql`
    select rule, 'usage_marks' as subject, expected, found from (
      select count(*) as rows, count(*) filter (where horizon > now()) as far,
        count(*) filter (where horizon <> date_trunc('hour', horizon, 'UTC')) as odd,
        count(*) filter (where days_before <> date_trunc('day', days_before, 'UTC')) as uneven,
        count(*) filter (where charges_until < horizon) as unposted
      from usage_marks
    ) m cross join lateral (values
      ('marks_lost', 1, m.rows),
      ('horizon_in_the_future', 0, m.far),
      ('horizon_within_an_hour', 0, m.odd),
      ('days_closed_within_a_day', 0, m.uneven),
      ('horizon_after_charges', 0, m.unposted)
    ) as figure (rule, expected, found)
    where expected <> found`,

  wallets: (sql) => sql`
    select rule, coalesce(w.user_id, l.user_id) as subject, expected, found
    from wallets w full join (
      select user_id, sum(reserved) as reserved, sum(running) as running, sum(waiting) as waiting from (
        select user_id, reserved_micros as reserved, counts_parallel::int as running,
          (started_at is null and (holder is null or route = 'agent'))::int as waiting
        from live_predictions
        union all
        select user_id, price_micros, 0, 0 from runs where status in ('pending', 'running') and price_micros > 0
      ) live group by user_id
    ) l on l.user_id = w.user_id
    left join lateral (
      select count(*) as rows from usage u where u.user_id = w.user_id and u.created_at > w.folded_until
    ) unfolded on true
    cross join lateral (values
      ('wallet_reserved', coalesce(l.reserved, 0), coalesce(w.reserved_micros, 0)),
      ('wallet_running', coalesce(l.running, 0), coalesce(w.running, 0)),
      ('wallet_waiting', coalesce(l.waiting, 0), coalesce(w.waiting, 0)),
      ('wallet_unfolded', unfolded.rows, coalesce(w.unfolded, 0))
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

  /** A sale, or a charge with its own entry, has one usage row at the same moment. */
  charges: (sql) => sql`
    with charge as (
      select reference, from_account, amount_micros, recorded_at from ledger
      where (kind = 'sale' or kind = 'charge' and reason is null) and recorded_at >= ${horizon(sql)}
    ), used as (
      select u.request_id, 'user:' || u.user_id as account, u.price_micros, u.created_at
      from usage u
      where u.price_micros <> 0 and u.created_at >= ${horizon(sql)}
        and (${isSale(sql, sql`u.model_name`)} or u.created_at < ${chargesUntil(sql)})
    )
    select case
        when u.request_id is null then 'charge_without_usage'
        when c.reference is null then 'usage_without_charge'
        when u.account <> c.from_account then 'charge_of_another_wallet'
        when u.created_at <> c.recorded_at then 'charge_at_another_time'
        else 'charge_amount' end as rule,
      coalesce(u.request_id, c.reference) as subject, u.price_micros as expected, c.amount_micros as found
    from used u full join charge c on c.reference = u.request_id
    where u.request_id is null or c.reference is null or u.account <> c.from_account
      or u.created_at <> c.recorded_at or u.price_micros <> c.amount_micros`,

  /** A prediction or run has one usage row. Hashes are compared first, because texts need ten times the memory. */
  usage_rows: (sql) => sql`
    with twice as materialized (
      select hashtextextended(request_id, 0) as hash from usage group by 1 having count(*) > 1
    )
    select 'usage_twice' as rule, request_id as subject, 1 as expected, count(*) as found
    from usage where hashtextextended(request_id, 0) in (select hash from twice)
    group by request_id having count(*) > 1`,

  /** The charges of a posted day in the ledger equal the usage of that day. */
  charged_days: (sql) => sql`
    select 'day_charged' as rule, concat_ws(' ', coalesce(h.user_id, substr(l.account, 6)),
      to_json(coalesce(h.day, l.day)) #>> '{}') as subject, coalesce(h.spent, 0) as expected, coalesce(l.amount, 0) as found
    from (
      select user_id, date_trunc('day', hour, 'UTC') as day, sum(spent_micros) as spent from usage_hours
      where hour < date_trunc('day', ${chargesUntil(sql)}, 'UTC') and spent_micros > 0 and not (${isSale(sql, sql`model_name`)})
      group by 1, 2
    ) h full join (
      select from_account as account, date_trunc('day', recorded_at, 'UTC') as day, sum(amount_micros) as amount from ledger
      where kind = 'charge' and recorded_at < date_trunc('day', ${chargesUntil(sql)}, 'UTC') group by 1, 2
    ) l on l.account = 'user:' || h.user_id and l.day = h.day
    where coalesce(h.spent, 0) <> coalesce(l.amount, 0)`,

  ...sumChecks,

  keys: keyChecks.reserved,
  key_months: keyChecks.months,
  key_days: keyChecks.days,

  /** The oldest rows have no reservation and cannot be checked. */
  reservations: (sql) => sql`
    select 'charge_above_reservation' as rule, request_id as subject, reserved_micros as expected, price_micros as found
    from usage where price_micros > reserved_micros and created_at >= ${horizon(sql)}`,

  limits: keyChecks.limits,

  /**
   * A sale must not leave its buyer below zero, unless the balance covered the price when the run was created: predictions may
   * have spent the rest since. The wallet is locked while a run is created and while money moves, so earlier movements are the
   * balance. Charges known only as a day's sum count from the end of the day, in favour of the sale. Sales without a stored
   * run cannot be checked.
   */
  sales: (sql) => sql`
    with buyer as materialized (
      select distinct from_account as account from ledger where kind = 'sale'
    ), movement as materialized (
      select *, sum(amount) over (partition by account order by at, kind = 'accepted', reference) as balance from (
        select to_account as account, recorded_at as at, kind, reference, amount_micros as amount from ledger
        where to_account in (select account from buyer)
        union all
        select from_account, recorded_at, kind, reference, -amount_micros from ledger
        where from_account in (select account from buyer)
        union all
        select 'user:' || user_id, created_at, 'charge', request_id, -price_micros from usage
        where created_at >= ${chargesUntil(sql)} and price_micros > 0 and not (${isSale(sql, sql`model_name`)})
          and 'user:' || user_id in (select account from buyer)
        union all
        select 'user:' || user_id, created_at, 'accepted', id, 0 from runs where status = 'done' and price_micros > 0
      ) moved
    )
    select 'sale_not_covered' as rule, sale.reference as subject, -sale.amount as expected, accepted.balance as found
    from movement sale join movement accepted on accepted.kind = 'accepted' and accepted.reference = sale.reference
    where sale.kind = 'sale' and sale.amount < 0 and sale.balance < 0 and accepted.balance < -sale.amount`,

  /**
   * No user pays for another user's private model. Only models that have not changed since are known to have been private.
   * The minute covers calls that were running when the model became private.
   */
  private_models: (sql) => sql`
    select 'charge_for_private_model' as rule, e.id as subject, 0 as expected, e.price_micros as found
    from models m join ended_predictions e on e.model_id = m.id and e.user_id <> m.owner_id
      and e.created_at > m.updated_at + interval '1 minute'
    where m.visibility = 'private' and e.price_micros > 0`,
};
