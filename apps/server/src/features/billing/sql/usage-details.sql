-- The place of a duration in an array of counts, from 1. The steps are those of kernel/latency.rules.ts.
create or replace function latency_step(milliseconds integer) returns integer language sql immutable parallel safe as $$
  select 1 + least(63, ceil(ln(greatest(milliseconds, 5)::float8 / 5) / ln(1.25::float8) - 1e-9)::integer)
$$;

-- Counts by step as an array, from the first step to the highest one given.
create or replace function counts_by_step(steps integer[], counts bigint[]) returns integer[] language sql immutable as $$
  select coalesce(array_agg(coalesce(given.n, 0)::integer order by step), '{}')
  from generate_series(1, (select max(s) from unnest(steps) s)) step
  left join unnest(steps, counts) as given (s, n) on given.s = step
$$;

create or replace function add_counts(one integer[], other integer[]) returns integer[] language sql immutable as $$
  select case when one is null or other is null then null else (
    select coalesce(array_agg(coalesce(a, 0) + coalesce(b, 0) order by step), '{}')
    from unnest(one, other) with ordinality as pair (a, b, step)
  ) end
$$;

-- The sums of a user's rows after `since` and up to `until`, by hour and model. Cancelled predictions are not errors.
create or replace function sum_usage(wanted text, since timestamptz, until timestamptz)
returns table (hour timestamptz, model_name text, requests integer, paid_requests integer, spent_micros bigint,
  errors integer, input_tokens bigint, output_tokens bigint, cached_tokens bigint, latencies integer[], latest timestamptz)
language sql stable as $$
  with used as materialized (
    select date_trunc('hour', u.created_at, 'UTC') as hour, u.model_name, u.created_at, u.price_micros, u.status,
      u.inference_ms, u.input_tokens, u.output_tokens, u.cached_tokens
    from usage u where u.user_id = wanted and u.created_at > since and u.created_at <= until
  ), latency as (
    select hour, model_name, counts_by_step(array_agg(step), array_agg(n)) as counts from (
      select hour, model_name, latency_step(inference_ms) as step, count(*) as n
      from used where status = 200 and inference_ms is not null group by 1, 2, 3
    ) one group by 1, 2
  )
  select t.hour, t.model_name, t.requests, t.paid, t.spent, t.errors, t.input, t.output, t.cached,
    coalesce(l.counts, '{}'), t.latest
  from (
    select hour, model_name, count(*)::integer as requests, count(*) filter (where price_micros > 0)::integer as paid,
      sum(price_micros)::bigint as spent, count(*) filter (where status >= 400 and status <> 499)::integer as errors,
      coalesce(sum(input_tokens), 0)::bigint as input, coalesce(sum(output_tokens), 0)::bigint as output,
      coalesce(sum(cached_tokens), 0)::bigint as cached, max(created_at) as latest
    from used group by 1, 2
  ) t left join latency l on l.hour = t.hour and l.model_name = t.model_name
$$;

-- Completes the sums of a user's hours that are from before these figures. The caller has chosen hours whose rows are kept.
-- Locks the wallet, so that no fold changes the hours meanwhile.
create or replace function detail_usage_hours(wanted text, since timestamptz, until timestamptz) returns void
language plpgsql as $$
declare
  folded timestamptz;
begin
  select w.folded_until into folded from wallets w where w.user_id = wanted for update;
  update usage_hours h set errors = s.errors, input_tokens = s.input_tokens, output_tokens = s.output_tokens,
    cached_tokens = s.cached_tokens, latencies = s.latencies
  from sum_usage(wanted, since - interval '1 us', least(until - interval '1 us', folded)) s
  where h.user_id = wanted and h.hour = s.hour and h.model_name = s.model_name and h.errors is null;
end $$;

-- Computes the figures of closed days from their hours, of one user or of all. The caller has locked usage_marks.
create or replace function detail_usage_days(wanted text, since timestamptz, until timestamptz) returns void
language sql as $$
  with hours as materialized (
    select h.user_id, date_trunc('day', h.hour, 'UTC') as day, h.model_name, h.errors, h.input_tokens, h.output_tokens,
      h.cached_tokens, h.latencies
    from usage_hours h where h.hour >= since and h.hour < until and (wanted is null or h.user_id = wanted)
  ), latency as (
    select user_id, day, model_name, counts_by_step(array_agg(step), array_agg(n)) as counts from (
      select user_id, day, model_name, l.step::integer as step, sum(l.n) as n
      from hours cross join lateral unnest(latencies) with ordinality as l (n, step) where l.n > 0 group by 1, 2, 3, 4
    ) one group by 1, 2, 3
  )
  update usage_days d set errors = t.errors, input_tokens = t.input, output_tokens = t.output, cached_tokens = t.cached,
    latencies = case when t.errors is not null then coalesce(l.counts, '{}') end
  from (
    select user_id, day, model_name, case when count(errors) = count(*) then sum(errors)::integer end as errors,
      case when count(errors) = count(*) then sum(input_tokens)::bigint end as input,
      case when count(errors) = count(*) then sum(output_tokens)::bigint end as output,
      case when count(errors) = count(*) then sum(cached_tokens)::bigint end as cached
    from hours group by 1, 2, 3
  ) t left join latency l on l.user_id = t.user_id and l.day = t.day and l.model_name = t.model_name
  where d.user_id = t.user_id and d.day = t.day and d.model_name = t.model_name
$$;
