import type { Sql } from "../../engines/database/database.ts";

/** Counters that differ from the rows they count, and limits that were exceeded, of ids like `mine`. */
export async function coreFaults(sql: Sql, mine: string): Promise<readonly unknown[]> {
  return sql`
    with live as (select * from live_predictions where id like ${mine}),
    used as (select * from usage where user_id like ${mine}),
    held as (
      select c.*, s.reserved_micros as micros, s.reserved_tokens as tokens from live s cross join lateral (values
        (s.key_id, s.key_month, s.key_day, s.key_second), (s.parent_key_id, s.parent_month, s.parent_day, s.parent_second)
      ) c (key_id, month, day, second)
      union all
      select c.*, null, r.price_micros, null from runs r cross join lateral (values
        (r.key_id, r.key_month, r.key_day), (r.parent_key_id, r.parent_month, r.parent_day)) c (key_id, month, day)
    )
    select 'wallet' as what, w.user_id as whose from wallets w
    where w.user_id like ${mine} and (w.running, w.waiting, w.reserved_micros) <> (
      select count(*) filter (where l.counts_parallel)::int,
        count(*) filter (where l.started_at is null and l.route in ('async', 'agent'))::int,
        coalesce(sum(l.reserved_micros), 0)::bigint + coalesce((
          select sum(r.price_micros) from runs r where r.user_id = w.user_id), 0)::bigint
      from live l where l.user_id = w.user_id)
    union all
    select 'balance', w.user_id from wallets w
    where w.user_id like ${mine} and w.balance_micros <> (
      select coalesce(sum(case when to_account = 'user:' || w.user_id then amount_micros else -amount_micros end), 0)
      from ledger where 'user:' || w.user_id in (from_account, to_account) and kind <> 'charge'
    ) - (select coalesce(sum(u.price_micros), 0) from used u where u.user_id = w.user_id)
    union all
    select 'usage', w.user_id from wallets w
    where w.user_id like ${mine} and (w.unfolded, w.unfolded) <> (
      select count(*)::int, count(distinct u.created_at)::int from used u
      where u.user_id = w.user_id and u.created_at > w.folded_until)
    union all
    select 'hours', w.user_id from wallets w
    where w.user_id like ${mine} and (
      select (coalesce(sum(h.requests), 0), coalesce(sum(h.paid_requests), 0), coalesce(sum(h.spent_micros), 0))::text
      from usage_hours h where h.user_id = w.user_id
    ) <> (
      select (count(*), count(*) filter (where u.price_micros > 0), coalesce(sum(u.price_micros), 0))::text
      from used u where u.user_id = w.user_id and u.created_at <= w.folded_until)
    union all
    select 'result', coalesce(u.request_id, e.id)
    from used u full join (select * from ended_predictions where id like ${mine}) e on u.request_id = e.id
    where (u.user_id, u.status, u.price_micros, u.reserved_micros) is distinct from (e.user_id, e.status, e.price_micros, e.reserved_micros)
    union all
    select 'month', m.key_id from key_months m where m.key_id like ${mine} and m.reserved_micros <> (
      select coalesce(sum(h.micros), 0) from held h where (h.key_id, h.month) = (m.key_id, m.month))
    union all
    select 'day', d.key_id from key_days d where d.key_id like ${mine} and d.reserved_micros <> (
      select coalesce(sum(h.micros), 0) from held h where (h.key_id, h.day) = (d.key_id, d.day))
    union all
    select 'over a limit', k.id from api_keys k
      left join key_months m on m.key_id = k.id left join key_days d on d.key_id = k.id
    where k.id like ${mine} and (m.spent_micros + m.reserved_micros > k.monthly_limit_micros
      or d.spent_micros + d.reserved_micros > k.daily_limit_micros)
    union all
    select 'tokens', t.key_id from key_tokens t where t.key_id like ${mine} and tokens_in(t.window_tokens) < (
      select coalesce(sum(h.tokens), 0) from held h where h.key_id = t.key_id and is_within_minute(h.second))
    union all
    select 'seconds', t.key_id from key_tokens t where t.key_id like ${mine} and cardinality(t.window_tokens) > 124
    union all
    select 'slots', s.model_id from model_slots s
    where (s.running, s.waiting) <> (
      select count(l.started_at)::int, (count(*) - count(l.started_at))::int from live l where l.model_id = s.model_id)
    union all
    select 'not queued', l.id from live l
    where l.started_at is null and not exists (
      select 1 from model_lines v
      where v.model_id = l.model_id and v.user_id = l.user_id and v.high_priority = l.high_priority)
    union all
    select 'empty queue', v.user_id from model_lines v
    where not exists (
      select 1 from live l where v.model_id = l.model_id and v.user_id = l.user_id
        and v.high_priority = l.high_priority and l.started_at is null)
    union all
    select 'running of a queue', v.user_id from model_lines v
    where v.running <> (
      select count(l.started_at) from live l where v.model_id = l.model_id and v.user_id = l.user_id)
    union all
    select 'over capacity', s.model_id from model_slots s join models m on m.id = s.model_id where s.running > m.capacity
    union all
    select 'over parallel', w.user_id from wallets w join users u on u.id = w.user_id join plans p on p.name = u.plan
    where w.user_id like ${mine} and w.running > p.parallel`;
}
