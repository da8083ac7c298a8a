-- The place of a duration in an array of counts, from 1. The steps are those of kernel/latency.rules.ts.
create or replace function latency_step(milliseconds integer) returns integer language sql immutable parallel safe as $$
  select 1 + least(63, ceil(ln(greatest(milliseconds, 5)::float8 / 5) / ln(1.25::float8) - 1e-9)::integer)
$$;

-- Counts by step as an array, from the first step to the highest one given. Without a query, because sums of days need many.
create or replace function counts_by_step(steps integer[], counts bigint[]) returns integer[] language plpgsql immutable as $$
declare
  highest integer := 0; by_step integer[];
begin
  for i in 1 .. cardinality(steps) loop highest := greatest(highest, steps[i]); end loop;
  by_step := array_fill(0, array[highest]);
  for i in 1 .. cardinality(steps) loop
    if steps[i] > 0 then by_step[steps[i]] := counts[i]; end if;
  end loop;
  return by_step;
end $$;

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
  ), part as (
    -- Grouped twice and not joined: the planner expects few groups, and would compare each with each.
    select hour, model_name, 0 as step, 0 as n, count(*) as requests, count(*) filter (where price_micros > 0) as paid,
      sum(price_micros) as spent, count(*) filter (where status >= 400 and status <> 499) as errors,
      sum(input_tokens) as input, sum(output_tokens) as output, sum(cached_tokens) as cached, max(created_at) as latest
    from used group by 1, 2
    union all
    select hour, model_name, latency_step(inference_ms), count(*), 0, 0, 0, 0, 0, 0, 0, null
    from used where status = 200 and inference_ms is not null group by 1, 2, 3
  )
  select hour, model_name, sum(requests)::integer, sum(paid)::integer, sum(spent)::bigint, sum(errors)::integer,
    coalesce(sum(input), 0)::bigint, coalesce(sum(output), 0)::bigint, coalesce(sum(cached), 0)::bigint,
    counts_by_step(array_agg(step), array_agg(n)), max(latest)
  from part group by 1, 2
$$;

-- Completes the sums of a user's hours that are from before these figures. The caller has chosen hours whose rows are kept.
-- Only hours that a fold may add to need the lock on the wallet: the user's predictions wait for it.
create or replace function detail_usage_hours(wanted text, since timestamptz, until timestamptz) returns void
language plpgsql as $$
declare
  folded timestamptz;
  final_before timestamptz;
begin
  select w.folded_until, date_trunc('hour', w.folded_until, 'UTC') into folded, final_before
  from wallets w where w.user_id = wanted;
  if until > final_before then
    if since < final_before then
      perform detail_usage_hours(wanted, since, final_before);
      since := final_before;
    end if;
    select w.folded_until into folded from wallets w where w.user_id = wanted for update;
  end if;
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
  ), part as (
    -- As above.
    select user_id, day, model_name, 0 as step, 0 as n, count(*) as hours, count(errors) as known, sum(errors) as errors,
      sum(input_tokens) as input, sum(output_tokens) as output, sum(cached_tokens) as cached
    from hours group by 1, 2, 3
    union all
    select user_id, day, model_name, l.step, sum(l.n), 0, 0, 0, 0, 0, 0
    from hours cross join lateral unnest(latencies) with ordinality as l (n, step) where l.n > 0 group by 1, 2, 3, 4
  ), total as materialized (
    select user_id, day, model_name, sum(known) = sum(hours) as is_known, sum(errors)::integer as errors,
      sum(input)::bigint as input, sum(output)::bigint as output, sum(cached)::bigint as cached,
      counts_by_step(array_agg(step::integer), array_agg(n::bigint)) as latencies
    from part group by 1, 2, 3
  )
  update usage_days d set errors = case when is_known then t.errors end, input_tokens = case when is_known then input end,
    output_tokens = case when is_known then output end, cached_tokens = case when is_known then cached end,
    latencies = case when is_known then t.latencies end
  from total t where d.user_id = t.user_id and d.day = t.day and d.model_name = t.model_name
$$;
